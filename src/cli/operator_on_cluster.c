#include "cli/operator_on_cluster.h"

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

int operator_on_cluster(const struct options *options)
{
	const char *name_space = option_text(options, "namespace");
	const struct operator_settings settings = {
		.log_in = cluster_log_in,
		.log_in_data = (void *) options,
		.namespace_name = name_space ? name_space : KUBE_ALL_NAMESPACES,
		.cluster_domain = getenv(DOMAIN_VARIABLE),
		.say = tell,
	};
	struct err err = {0};

	return operator_run(&settings, &err) < 0 ? cluster_fail(&err) : EXIT_DONE;
}
