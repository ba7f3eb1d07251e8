#include "cli/cluster_client.h"

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/lookup.h"
#include "cli/output.h"
#include "engine/client_kube.h"

static void tell_trouble(const char *sentence, void *data)
{
	(void) data;
	output_say("%s", sentence);
}

int cluster_client_open(const struct options *options, const char *namespace_name,
			const char *state_folder, struct client **ret_client, struct err *err)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(options, true);
	const struct client_kube_settings settings = {
		.log_in = cluster_log_in,
		.log_in_data = (void *) options,
		.namespace_name = namespace_name,
		.choice = choice,
		.state_folder = state_folder,
		.on_trouble = tell_trouble,
	};

	return client_kube_new(&settings, ret_client, err);
}
