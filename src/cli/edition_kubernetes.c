/* The program `muster-kubernetes`: clusters too. */
#include "cli/attach_on_cluster.h"
#include "cli/cluster_client.h"
#include "cli/edition.h"
#include "cli/run_on_cluster.h"
#include "cli/tensorboard_on_cluster.h"
#include "io/http_client.h"

const bool edition_has_kubernetes = true;
int (*const edition_run_on_cluster)(const struct options *,
				    const struct job_source *) = run_on_cluster;
int (*const edition_attach_on_cluster)(const struct options *, const char *,
				       const char *) = attach_on_cluster;
int (*const edition_open_cluster)(const struct options *, const char *, const char *,
				  struct client **, struct err *) = cluster_client_open;
int (*const edition_copy)(const struct copy_call *) = copy_call_run;
int (*const edition_exec)(const struct exec_call *) = exec_on_cluster;
int (*const edition_see_tensorboard)(const struct tensorboard_call *) = tensorboard_on_cluster;
int (*const edition_forward_ports)(const struct port_forward_call *) = port_forward_on_cluster;
const sync_folder_pack_fn edition_pack_folder = sync_folder_pack;

void edition_add_libraries(struct text *text)
{
	text_addf(text, "speaks to clusters with %s\n", http_library());
}
