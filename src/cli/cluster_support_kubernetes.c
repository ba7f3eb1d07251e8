/* The program `muster-kubernetes`: with support for clusters. */
#include "base/err.h"
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cluster/client.h"
#include "command/options.h"
#include "command/output.h"
#include "http/asker.h"
#include "http/certificate.h"
#include "http/client.h"
#include "jobs/client.h"

/* The options outlive the client. */
static int cluster_client_open(const struct options *options, const char *namespace_name,
			       const char *state_folder, struct client **ret_client,
			       struct err *err)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(options, true);
	const struct client_kube_settings settings = {
		.log_in = kube_cluster_log_in,
		.log_in_data = (void *) options,
		.namespace_name = namespace_name,
		.choice = choice,
		.state_folder = state_folder,
		.on_trouble = output_print_sentence,
	};

	return client_kube_new(&settings, ret_client, err);
}

static const struct cluster_support kubernetes = {
	.run = run_on_cluster,
	.submit = submit_to_operator,
	.attach = attach_on_cluster,
	.open_client = cluster_client_open,
	.copy = copy_call_run,
	.exec = exec_on_cluster,
	.add_stacks = stacks_on_cluster,
	.see_tensorboard = tensorboard_on_cluster,
	.serve_tfjobs = operator_on_cluster,
	.serve = serve_on_cluster,
	.new_asker = https_asker_new,
	.read_token = server_files_read_token,
	.open_tls = server_files_open_tls,
	.create_token = server_files_create_token,
	.tls_of_token = http_tls_of_secret,
	.free_tls = http_tls_free,
	.pin_of_token = certificate_pin_of_secret,
	.forward_ports = port_forward_on_cluster,
	.pack_folder = sync_folder_pack,
	.library = http_library,
};
const struct cluster_support *const cluster_support = &kubernetes;
