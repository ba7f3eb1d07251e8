#include "cli/attach_on_cluster.h"

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/output.h"
#include "engine/supervision_kube.h"

int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	char *folder CLEANUP(mem_free_text) = NULL;
	struct err err = {0};
	int exit_code;

	if (lookup_state_folder(options, &folder, &err) ||
	    cluster_read_config(options, &config, &err))
		return attach_fail(&err);
	char *words CLEANUP(mem_free_text) = lookup_words(options, namespace_name, name);
	char *place CLEANUP(mem_free_text) = cluster_write_place(options, config, namespace_name);
	const struct supervision_kube_request request = {
		.attach_to = name,
		.namespace_name = namespace_name,
		.job_words = words,
		.place = place,
		.log_in = cluster_log_in,
		.data = (void *) options,
		.state_folder = folder,
		.is_detached = option_flag(options, "detach"),
		.is_quiet = option_flag(options, "quiet"),
		.color = option_text(options, "color"),
	};

	if (supervision_kube_run(&request, &exit_code, &err))
		return attach_fail(&err);
	if (request.is_detached)
		output_say("job '%s' is watched in the background now", name);
	return exit_code;
}
