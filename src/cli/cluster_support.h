/* The functions that only one of the two programs has: `muster` starts quickly, `muster-kubernetes`
 * has the same commands and the libraries for clusters. Each links one file that defines
 * `cluster_support`: cluster_support_local.c or cluster_support_kubernetes.c. docs/design/0013. */
#pragma once

#include "base/err.h"
#include "base/text.h"
#include "cli/copy_call.h"
#include "cli/exec_on_cluster.h"
#include "cli/job_source.h"
#include "cli/port_forward_on_cluster.h"
#include "cli/stacks_on_cluster.h"
#include "cli/sync_folder.h"
#include "cli/tensorboard.h"
#include "command/options.h"
#include "http/asker.h"
#include "http/listening.h"
#include "http/tls.h"
#include "jobs/client.h"

#include <stdbool.h>

struct server_access;

/* The functions of the program for clusters. Those of commands return the exit code. */
struct cluster_support {
	/* run_on_cluster, submit_to_operator, attach_on_cluster. */
	int (*run)(const struct options *options, const struct job_source *source,
		   const struct listening *metrics);
	int (*submit)(const struct options *options, const struct job_source *source);
	int (*attach)(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob);
	/* A client for one namespace of the cluster that the options select; "" for all namespaces,
	 * for a client that only lists. */
	int (*open_client)(const struct options *options, const char *namespace_name,
			   const char *state_folder, struct client **ret_client, struct err *err);
	int (*copy)(const struct copy_call *call); /* copy_call_run */
	int (*exec)(const struct exec_call *call); /* exec_on_cluster */
	int (*add_stacks)(const struct stacks_on_cluster_call *call, struct stacks *stacks,
			  struct err *err); /* stacks_on_cluster */
	int (*see_tensorboard)(const struct tensorboard_call *call); /* tensorboard_on_cluster */
	int (*serve_tfjobs)(const struct options *options); /* operator_on_cluster */
	int (*serve)(const struct options *options); /* serve_on_cluster */
	http_asker_new_fn new_asker; /* https_asker_new */
	int (*read_token)(const char *path, struct server_access *access,
			  struct err *err); /* server_files_read_token */
	int (*open_tls)(const char *folder, struct server_access *access,
			struct err *err); /* server_files_open_tls */
	int (*create_token)(const char *path); /* server_files_create_token */
	struct http_tls *(*tls_of_token)(const char *token); /* http_tls_of_secret */
	void (*free_tls)(struct http_tls *tls); /* http_tls_free */
	char *(*pin_of_token)(const char *token); /* certificate_pin_of_secret */
	int (*forward_ports)(const struct port_forward_call *call); /* port_forward_on_cluster */
	sync_folder_pack_fn pack_folder;
	const char *(*library)(void); /* "libcurl/7.88.1 …", for `muster version` */
};

/* NULL in `muster`, which executes the other program (cli/kubernetes_program.h). */
extern const struct cluster_support *const cluster_support;
