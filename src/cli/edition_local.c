/* The program `muster`: all but clusters. */
#include "cli/edition.h"

const bool edition_has_kubernetes = false;
int (*const edition_run_on_cluster)(const struct options *, const struct job_source *) = NULL;
int (*const edition_attach_on_cluster)(const struct options *, const char *, const char *) = NULL;
int (*const edition_open_cluster)(const struct options *, const char *, const char *,
				  struct client **, struct err *) = NULL;
int (*const edition_copy)(const struct copy_call *) = NULL;
int (*const edition_exec)(const struct exec_call *) = NULL;
int (*const edition_see_tensorboard)(const struct tensorboard_call *) = NULL;
int (*const edition_forward_ports)(const struct port_forward_call *) = NULL;
const sync_folder_pack_fn edition_pack_folder = NULL;

void edition_add_libraries(struct text *text)
{
	(void) text;
}
