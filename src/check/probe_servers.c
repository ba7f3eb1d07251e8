#include "check/probe_servers.h"

#include "base/mem.h"
#include "check/probe_event.h"
#include "tensorflow/network_probe.h"
#include "tensorflow/session.h"

#include <stdlib.h>

void probe_servers_init(struct probe_servers *servers, const struct probe_request *request)
{
	servers->count = request->n_servers;
	servers->servers = mem_new_array(servers->count, sizeof(*servers->servers));
	for (size_t i = 0; i < servers->count; i++)
		servers->servers[i].at = &request->servers[i];
}

void probe_servers_done(struct probe_servers *servers)
{
	for (size_t i = 0; i < servers->count; i++) {
		free(servers->servers[i].job);
		free(servers->servers[i].error);
	}
	free(servers->servers);
}

static void on_probe_server_finding(size_t peer, const struct network_finding *finding, void *data)
{
	struct probe_server *server = &((struct probe_servers *) data)->servers[peer];

	if (finding->stage == NETWORK_DONE)
		return;
	server->error = mem_format("%s cannot be reached: %s", server->at->url, finding->error);
	server->code = "UNAVAILABLE";
}

int probe_servers_reach(struct probe_servers *servers, msec timeout, struct err *err)
{
	struct network_peer *peers CLEANUP(mem_free_any) =
		mem_new_array(servers->count, sizeof(*peers));

	for (size_t i = 0; i < servers->count; i++) {
		const struct check_server *at = servers->servers[i].at;

		peers[i] = (struct network_peer){
			.name = at->place, .host = at->host, .port = at->port};
	}
	const struct network_probe_settings settings = {
		.peers = peers,
		.n_peers = servers->count,
		.own = servers->count,
		.timeout = timeout,
		.tell = on_probe_server_finding,
		.data = servers,
	};

	return network_probe_run(&settings, err);
}

static void note_error(struct probe_server *server, const struct session *session,
		       const struct err *err)
{
	server->code = session ? session_code(session) : "INVALID_ARGUMENT";
	server->error = mem_format(
		"%s: %s%s", server->at->url, err->text,
		err->code == ERR_UNREACHABLE
			? " (its port is open: it is stopped, busy, or not a TensorFlow server)"
			: "");
}

/* A session limited to the master lists only the server's own devices. */
static void query_probe_server(struct probe_server *server, const struct library *library,
			       msec timeout)
{
	const struct session_target target = {
		.master = server->at->url,
		.reach = SESSION_MASTER,
		.timeout = timeout,
	};
	struct session *session CLEANUP(session_cleanup) = NULL;
	const struct session_device *devices;
	size_t n_devices;
	struct err err = {0};

	if (session_open(library, &target, &session, &err) ||
	    session_list_devices(session, &devices, &n_devices, &err))
		note_error(server, session, &err);
	else if (n_devices > 0)
		server->job = mem_copy_text(devices[0].name.job);
}

void probe_servers_ask(struct probe_servers *servers, const struct probe_request *request,
		       const struct library *library)
{
	for (size_t i = 0; i < servers->count; i++) {
		if (servers->servers[i].error)
			continue;
		probe_begin(request, "asking %s which task it is", servers->servers[i].at->url);
		query_probe_server(&servers->servers[i], library, request->timeout);
	}
}

const struct probe_server *probe_servers_first(const struct probe_servers *servers)
{
	for (size_t i = 0; i < servers->count; i++)
		if (servers->servers[i].job)
			return &servers->servers[i];
	return NULL;
}
