#include "cli/cluster_support.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/replica_pod.h"
#include "cluster/job_view.h"
#include "command/command.h"
#include "command/output.h"
#include "http/listening.h"
#include "io/file.h"
#include "io/loop.h"
#include "jobs/client.h"
#include "kube/rights.h"
#include "pods/port_forward.h"
#include "spec/limits.h"
#include "status/status.h"
#include "supervise/background.h"

#include <sys/queue.h>

#define LOOPBACK "127.0.0.1"
#define LOOPBACK_6 "::1"

/* A port of this machine that is forwarded into the Pod. */
struct open_port {
	struct forwarding *forwarding;
	struct listener *listener; /* NULL: this machine has no such address */
	const char *address;
	int remote;
};

struct forwarding {
	const struct port_forward_call *call;
	struct kube_api *api;
	struct job_view *job;
	struct open_port *ports; /* fixed once something listens */
	size_t n_ports;
	struct end_signals signals;
	LIST_HEAD(, tunnel) tunnels;
	size_t n_tunnels;
	bool was_full; /* and that was reported */
	struct err said; /* last reported; a page's many connections fail alike */
	bool is_interrupted;
};

/* One forwarded connection. */
struct tunnel {
	struct forwarding *forwarding;
	struct kube_port_forward *forward;
	LIST_ENTRY(tunnel) link;
};

/* Tunnels. */

static void enable_ports(const struct forwarding *forwarding, bool is_enabled)
{
	for (size_t i = 0; i < forwarding->n_ports; i++)
		if (forwarding->ports[i].listener)
			listener_enable(forwarding->ports[i].listener, is_enabled);
}

static void on_tunnel_end(const struct err *err, void *data)
{
	struct tunnel *tunnel = data;
	struct forwarding *forwarding = tunnel->forwarding;

	LIST_REMOVE(tunnel, link);
	forwarding->n_tunnels--;
	free(tunnel);
	if (err && !text_equals(err->text, forwarding->said.text))
		output_print_message("%s", err->text);
	forwarding->said = err ? *err : (struct err){0};
	enable_ports(forwarding, true);
	if (forwarding->n_tunnels < LIMIT_FORWARDED / 2)
		forwarding->was_full = false;
}

static void on_forwarded_connection(int take_fd, void *data)
{
	const struct open_port *port = data;
	struct forwarding *forwarding = port->forwarding;
	struct tunnel *tunnel = mem_new(sizeof(*tunnel));
	const struct kube_port_forward_request request = {
		.namespace_name = forwarding->call->namespace_name,
		.pod = forwarding->call->pod,
		.port = port->remote,
		.take_fd = take_fd,
		.on_end = on_tunnel_end,
		.data = tunnel,
	};

	tunnel->forwarding = forwarding;
	LIST_INSERT_HEAD(&forwarding->tunnels, tunnel, link);
	forwarding->n_tunnels++;
	tunnel->forward = kube_port_forward_new(forwarding->api, &request);
	if (forwarding->n_tunnels < LIMIT_FORWARDED)
		return;
	enable_ports(forwarding, false);
	if (!forwarding->was_full)
		output_print_message(
			"%d connections are open, which is the maximum; new ones wait until one "
			"closes",
			LIMIT_FORWARDED);
	forwarding->was_full = true;
}

/* The ports: all of them listen, or none. */

static void on_port_trouble(const struct err *err, void *data)
{
	(void) data;
	output_print_message("%s", err->text);
}

static int open_one(struct forwarding *forwarding, const char *address, int local, int remote,
		    struct err *err)
{
	struct open_port *port = &forwarding->ports[forwarding->n_ports++];
	const struct listener_request request = {
		.address = address,
		.port = local,
		.on_connection = on_forwarded_connection,
		.on_trouble = on_port_trouble,
		.data = port,
	};

	*port = (struct open_port){.forwarding = forwarding, .address = address, .remote = remote};
	return listener_new(forwarding->api->loop, &request, &port->listener, err);
}

/* The loopback addresses of IPv4 and, if available, IPv6. The port that the kernel has chosen for
 * one may be in use for the other; a client that connects to `localhost` tries both. */
static int open_loopback(struct forwarding *forwarding, const struct port_pair *pair,
			 struct err *err)
{
	int rc = open_one(forwarding, LOOPBACK, pair->local, pair->remote, err);

	if (rc < 0)
		return rc;
	int local = listener_port(forwarding->ports[forwarding->n_ports - 1].listener);

	rc = open_one(forwarding, LOOPBACK_6, local, pair->remote, err);
	if (rc == ERR_NOT_FOUND || (rc == ERR_EXISTS && !pair->local))
		return 0;
	return rc;
}

static int open_ports(struct forwarding *forwarding, struct err *err)
{
	const struct port_forward_call *call = forwarding->call;
	size_t n_pairs = call->ports->n_pairs;
	rlim_t before;
	/* A connection uses several descriptors; if there are too few, other connections wait. */
	int rc = descriptor_limit_raise(0, &before, err);

	forwarding->ports = mem_new_array(2 * n_pairs, sizeof(*forwarding->ports));
	for (size_t i = 0; i < n_pairs && rc == 0; i++) {
		const struct port_pair *pair = &call->ports->pairs[i];

		rc = call->address
			     ? open_one(forwarding, call->address, pair->local, pair->remote, err)
			     : open_loopback(forwarding, pair, err);
	}
	return rc;
}

static void print_ports(const struct forwarding *forwarding)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < forwarding->n_ports; i++) {
		const struct open_port *port = &forwarding->ports[i];
		bool is_6 = strchr(port->address, ':');

		if (port->listener)
			text_addf(&text, "Forwarding from %s%s%s:%d -> %d\n", is_6 ? "[" : "",
				  port->address, is_6 ? "]" : "", listener_port(port->listener),
				  port->remote);
	}
	output_add(&text);
	output_flush();
}

/* The job. */

static void on_job_change(void *data)
{
	const struct forwarding *forwarding = data;

	loop_stop(forwarding->api->loop);
}

/* The Pods of a finished job are being stopped. */
static int check_forwarded_job_over(const struct job_view *job, bool *ret_is_over, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct status status;

	*ret_is_over = job->is_gone || !job->record;
	if (*ret_is_over)
		return 0;
	int rc = job_view_read(job, &tfjob, err);

	if (rc == 0)
		rc = status_read(json_get(tfjob, "status"), arena, &status, err);
	*ret_is_over = rc == 0 && status_is_finished(&status);
	return rc;
}

/* The whole command. */

static void on_forwarding_signal(int number, void *data)
{
	struct forwarding *forwarding = data;

	(void) number;
	forwarding->is_interrupted = true;
	loop_stop(forwarding->api->loop);
}

static void forwarding_done(struct forwarding *forwarding)
{
	for (size_t i = 0; i < forwarding->n_ports; i++)
		listener_free(forwarding->ports[i].listener);
	free(forwarding->ports);
	for (struct tunnel *tunnel; (tunnel = LIST_FIRST(&forwarding->tunnels));) {
		LIST_REMOVE(tunnel, link);
		kube_port_forward_cancel(tunnel->forward);
		free(tunnel);
	}
	end_signals_done(&forwarding->signals);
	job_view_free(forwarding->job);
	kube_api_free(forwarding->api);
}

/* Until a signal comes, or the job has finished. */
static int forward(struct forwarding *forwarding, bool *ret_is_over, struct err *err)
{
	int rc = 0;

	while (rc == 0 && !forwarding->is_interrupted && !*ret_is_over) {
		loop_run(forwarding->api->loop);
		if (forwarding->is_interrupted)
			return 0;
		rc = job_view_sync(forwarding->job, err);
		if (rc == 0)
			rc = check_forwarded_job_over(forwarding->job, ret_is_over, err);
	}
	return rc;
}

/* A change of the job stops the loop, so nothing else may wait on it once the job was seen. */
static int start_port_forwarding(struct forwarding *forwarding, bool *ret_is_over, struct err *err)
{
	/* Newer servers require both (Kubernetes 1.35:
	 * AuthorizePodWebsocketUpgradeCreatePermission). */
	static const struct kube_right rights[] = {
		{KUBE_GET, &kube_pods, "portforward"},
		{KUBE_CREATE, &kube_pods, "portforward"},
	};
	const struct port_forward_call *call = forwarding->call;
	int rc = cluster_connect(call->options, &forwarding->api, err);

	if (rc == 0)
		rc = kube_rights_check(forwarding->api, call->namespace_name, rights,
				       ARRAY_LEN(rights), NULL, NULL, err);
	if (rc < 0)
		return rc;
	const struct job_view_settings settings = {
		.api = forwarding->api,
		.namespace_name = call->namespace_name,
		.is_of_tfjobs = call->is_tfjob,
		.on_trouble = output_print_sentence,
		.on_change = on_job_change,
		.data = forwarding,
	};

	forwarding->job = job_view_new(&settings, call->job);
	rc = job_view_sync(forwarding->job, err);
	if (rc == 0)
		rc = check_forwarded_job_over(forwarding->job, ret_is_over, err);
	if (rc < 0 || *ret_is_over)
		return rc;
	rc = open_ports(forwarding, err);
	if (rc < 0)
		return rc;
	end_signals_watch(&forwarding->signals, forwarding->api->loop, on_forwarding_signal,
			  forwarding);
	print_ports(forwarding);
	return 0;
}

int port_forward_on_cluster(const struct port_forward_call *call)
{
	struct forwarding forwarding CLEANUP(forwarding_done) = {.call = call};
	bool is_over = false;
	struct err err = {0};

	if (start_port_forwarding(&forwarding, &is_over, &err) < 0)
		return output_fail(&err);
	if (is_over)
		return output_fail_with(EXIT_FAILED,
					"job '%s' has ended, so it has no ports to forward",
					call->job);
	if (forward(&forwarding, &is_over, &err) < 0)
		return output_fail(&err);
	if (is_over)
		output_print_message("job '%s' has ended; forwarding to %s stopped", call->job,
				     call->replica);
	return EXIT_DONE;
}
