#include "cli/operator_on_cluster.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/kube_cluster.h"
#include "cli/operator_flags.h"
#include "cli/operator_log.h"
#include "cli/operator_setup_call.h"
#include "command/command.h"
#include "operator/operator.h"

#include <stdlib.h>

#define DOMAIN_VARIABLE "CUSTOM_CLUSTER_DOMAIN"

/* With the login's own namespace, whatever namespaces are managed: the Lease is there. */
static int log_in(struct loop *loop, struct kube_login **ret_login, struct err *err, void *data)
{
	struct options *own CLEANUP(options_cleanup) = options_copy(data);

	options_set_text(own, "namespace", "");
	int rc = kube_cluster_log_in(loop, ret_login, err, own);

	if (rc < 0)
		return rc;
	(*ret_login)->on_warning = operator_log_write;
	(*ret_login)->on_warning_data = data;
	return 0;
}

static void log_metrics_address(const struct options *options, const struct listening *listening)
{
	char *sentence CLEANUP(mem_free_text) =
		mem_format("/metrics, /healthz and /readyz: %s%s", listening->path ? "" : "http://",
			   listening->address);

	operator_log_write(sentence, (void *) options);
}

/* Addresses as in training-operator: "0" is none, and ":8080" is on all addresses. */
static int open_address(const struct options *options, const char *option,
			struct listening *ret_listening, struct err *err)
{
	const char *address = option_text(options, option);

	if (!address || text_equals(address, "0"))
		return 0;
	char *all CLEANUP(mem_free_text) =
		*address == ':' ? mem_format("0.0.0.0%s", address) : mem_copy_text(address);

	if (listening_open(all, ret_listening, err) == 0) {
		log_metrics_address(options, ret_listening);
		return 0;
	}
	err_prefix(err, "--%s", option);
	return err->code = ERR_INVALID;
}

static void log_ignored_flags(const struct options *options)
{
	struct text flags CLEANUP(text_done) = {0};

	operator_flags_add_meaningless(&flags, options);
	if (flags.len == 0)
		return;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("ignored (no effect in muster): %s", text_of(&flags));

	operator_log_write(sentence, (void *) options);
}

struct sockets {
	struct listening metrics, health;
};

static void sockets_done(struct sockets *sockets)
{
	listening_done(&sockets->metrics);
	listening_done(&sockets->health);
}

static struct tfjob_manner manner_of(const struct options *options)
{
	return (struct tfjob_manner){
		.cluster_domain = getenv(DOMAIN_VARIABLE),
		.has_one_service = text_equals(option_text(options, "services"),
					       job_services_words[SERVICES_PER_JOB]),
	};
}

static int serve_operator(const struct options *options, struct operator_settings *settings,
			  struct err *err)
{
	struct sockets sockets CLEANUP(sockets_done) = {{.fd = -1}, {.fd = -1}};
	int rc = operator_flags_check(options, err);

	if (rc < 0)
		return rc;
	log_ignored_flags(options);
	rc = open_address(options, "metrics-bind-address", &sockets.metrics, err);
	if (rc == 0)
		rc = open_address(options, "health-probe-bind-address", &sockets.health, err);
	if (rc < 0)
		return rc;
	struct gang gang = gang_of(option_text(options, "gang-scheduler-name"));

	settings->manner = manner_of(options);
	settings->gang = gang.kind == GANG_NONE ? NULL : &gang;
	settings->metrics = sockets.metrics.fd < 0 ? NULL : &sockets.metrics;
	settings->health = sockets.health.fd < 0 ? NULL : &sockets.health;
	if (option_flag(options, "leader-elect"))
		settings->lease_name = option_text(options, "leader-election-id");
	return operator_run(settings, err);
}

static int run_operator_call(const struct options *options, char ***ret_namespaces, struct err *err)
{
	bool is_setup = false;
	int rc = operator_setup_check(options, &is_setup, err);

	if (rc == 0)
		rc = operator_namespaces(options, ret_namespaces, err);
	if (rc < 0)
		return rc;
	struct operator_settings settings = {
		.log_in = log_in,
		.log_in_data = (void *) options,
		.namespaces = (const char *const *) *ret_namespaces,
		.say = operator_log_write,
		.data = (void *) options,
	};

	return is_setup ? operator_setup_call(options, &settings, err)
			: serve_operator(options, &settings, err);
}

int operator_on_cluster(const struct options *options)
{
	char **namespaces = NULL;
	struct err err = {0};

	operator_log_begin(options);
	int rc = run_operator_call(options, &namespaces, &err);

	operator_namespaces_free(namespaces);
	return rc < 0 ? kube_cluster_fail(&err) : EXIT_DONE;
}
