#include "cli/operator_on_cluster.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/output.h"
#include "engine/operator.h"

#include <stdlib.h>

#define DOMAIN_VARIABLE "CUSTOM_CLUSTER_DOMAIN"

static void tell(const char *sentence, void *data)
{
	(void) data;
	output_say("%s", sentence);
}

/* As training-operator takes an address: "0" is none, and ":8080" is on all addresses. */
static bool open_address(const struct options *options, const char *option,
			 struct listening *ret_listening)
{
	const char *address = option_text(options, option);
	struct err err = {0};

	if (!address || text_equals(address, "0"))
		return true;
	char *all CLEANUP(mem_free_text) =
		*address == ':' ? mem_format("0.0.0.0%s", address) : mem_copy_text(address);

	if (listening_open(all, ret_listening, &err) == 0) {
		output_say("/metrics, /healthz and /readyz: %s%s",
			   ret_listening->path ? "" : "http://", ret_listening->address);
		return true;
	}
	output_say("--%s: %s", option, err.text);
	return false;
}

int operator_on_cluster(const struct options *options)
{
	const char *name_space = option_text(options, "namespace");
	struct listening metrics CLEANUP(listening_done) = {.fd = -1};
	struct listening health CLEANUP(listening_done) = {.fd = -1};

	if (!open_address(options, "metrics-bind-address", &metrics) ||
	    !open_address(options, "health-probe-bind-address", &health))
		return EXIT_WRONG_USE;
	const struct operator_settings settings = {
		.log_in = cluster_log_in,
		.log_in_data = (void *) options,
		.namespace_name = name_space ? name_space : KUBE_ALL_NAMESPACES,
		.cluster_domain = getenv(DOMAIN_VARIABLE),
		.metrics = metrics.fd < 0 ? NULL : &metrics,
		.health = health.fd < 0 ? NULL : &health,
		.lease_name = option_flag(options, "leader-elect")
				      ? option_text(options, "leader-election-id")
				      : NULL,
		.say = tell,
	};
	struct err err = {0};

	return operator_run(&settings, &err) < 0 ? cluster_fail(&err) : EXIT_DONE;
}
