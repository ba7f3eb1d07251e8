/* Which of the two programs this is: `muster`, which starts quickly, or `muster-kubernetes`, the
 * same commands with the libraries that speak to clusters. Each links one file that defines these:
 * edition_local.c or edition_kubernetes.c. docs/design/0013. */
#pragma once

#include "base/err.h"
#include "base/text.h"
#include "cli/copy_call.h"
#include "cli/exec_on_cluster.h"
#include "cli/job_source.h"
#include "cli/options.h"
#include "cli/port_forward_on_cluster.h"
#include "cli/sync_folder.h"
#include "cli/tensorboard.h"
#include "engine/client.h"

#include <stdbool.h>

/* This program speaks to clusters; the other one hands over to it (cli/hand_over.h). */
extern const bool edition_has_kubernetes;

/* `run --on kubernetes` of a job that was read: sees it through and gives the exit code. NULL where
 * edition_has_kubernetes is false. */
extern int (*const edition_run_on_cluster)(const struct options *options,
					   const struct job_source *source);

/* `attach` to a job on the cluster that the options choose; gives the exit code. NULL where
 * edition_has_kubernetes is false. */
extern int (*const edition_attach_on_cluster)(const struct options *options,
					      const char *namespace_name, const char *name);

/* The jobs of one namespace of the cluster that the options choose; "" for all of them, only to be
 * listed. NULL where edition_has_kubernetes is false. */
extern int (*const edition_open_cluster)(const struct options *options, const char *namespace_name,
					 const char *state_folder, struct client **ret_client,
					 struct err *err);

/* sync_folder_pack; NULL where edition_has_kubernetes is false. */
extern const sync_folder_pack_fn edition_pack_folder;

/* copy_call_run; NULL where edition_has_kubernetes is false. */
extern int (*const edition_copy)(const struct copy_call *call);

/* exec_on_cluster; NULL where edition_has_kubernetes is false. */
extern int (*const edition_exec)(const struct exec_call *call);

/* tensorboard_on_cluster; NULL where edition_has_kubernetes is false. */
extern int (*const edition_see_tensorboard)(const struct tensorboard_call *call);

/* port_forward_on_cluster; NULL where edition_has_kubernetes is false. */
extern int (*const edition_forward_ports)(const struct port_forward_call *call);

/* What `muster version` says besides the version, in lines; nothing for `muster`. */
void edition_add_libraries(struct text *text);
