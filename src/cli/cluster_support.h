/* The functions that only one of the two programs has: `muster` starts quickly, `muster-kubernetes`
 * has the same commands and the libraries for clusters. Each links one file that defines
 * `cluster_support`: cluster_support_local.c or cluster_support_kubernetes.c. docs/design/0013. */
#pragma once

#include "base/err.h"
#include "cli/job_source.h"
#include "cli/replica_name.h"
#include "cli/sync_folder.h"
#include "cli/tensorboard.h"
#include "command/options.h"
#include "http/asker.h"
#include "http/certificate.h"
#include "http/listening.h"
#include "jobs/client.h"
#include "spec/job.h"
#include "status/stacks.h"
#include "status/status.h"

struct server_access;

/* A copy between this machine and a Pod of a job. */
struct copy_call {
	const struct options *options; /* these select the cluster */
	const struct copy_place *place; /* the path in the job */
	const char *container; /* NULL: as kube/fetch_sidecar.h chooses */
	const char *here;
	bool is_to_pod;
	bool is_fetch; /* reports what was copied; it is an error if nothing was */
};

/* Ports of this machine that are forwarded into a job's Pod. */
struct port_forward_call {
	const struct options *options; /* these select the cluster */
	const char *namespace_name;
	const char *job;
	bool is_tfjob; /* an operator manages it */
	const char *replica; /* "worker-0", in messages */
	const char *pod; /* its name in every attempt */
	const char *address; /* NULL: loopback */
	const struct port_arguments *ports;
};

/* The Python stacks of a job's Pods, read by the py-spy of their containers. */
struct stacks_on_cluster_call {
	const struct options *options; /* these select the cluster */
	const char *namespace_name;
	const struct job *job;
	const struct replica_status *const *replicas; /* with a running Pod */
	size_t n_replicas;
	struct arena *arena; /* for the texts of the stacks */
};

/* The functions of the program for clusters: those below, and some of lower directories. */
struct cluster_support {
	int (*run)(const struct options *options, const struct job_source *source,
		   const struct listening *metrics);
	int (*submit)(const struct options *options, const struct job_source *source);
	int (*attach)(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob);
	/* A client for one namespace of the cluster that the options select; "" for all namespaces,
	 * for a client that only lists. */
	int (*open_client)(const struct options *options, const char *namespace_name,
			   const char *state_folder, struct client **ret_client, struct err *err);
	int (*copy)(const struct copy_call *call);
	int (*exec)(const struct options *options, const struct copy_place *place,
		    const char *const *command);
	int (*add_stacks)(const struct stacks_on_cluster_call *call, struct stacks *stacks,
			  struct err *err);
	int (*see_tensorboard)(const struct tensorboard_call *call);
	int (*serve_tfjobs)(const struct options *options);
	int (*serve)(const struct options *options);
	http_asker_new_fn new_asker; /* https_asker_new */
	int (*read_token)(const char *path, struct server_access *access, struct err *err);
	int (*open_tls)(const char *folder, struct server_access *access, struct err *err);
	int (*create_token)(const char *path);
	struct http_tls *(*tls_of_token)(const char *token); /* http_tls_of_secret */
	void (*free_tls)(struct http_tls *tls); /* http_tls_free */
	char *(*pin_of_token)(const char *token); /* certificate_pin_of_secret */
	int (*forward_ports)(const struct port_forward_call *call);
	sync_folder_pack_fn pack_folder;
	const char *(*library)(void); /* "libcurl/7.88.1 …", for `muster version` */
};

/* NULL in `muster`, which executes the other program (cli/kubernetes_program.h). */
extern const struct cluster_support *const cluster_support;

/* What muster-kubernetes alone has. Where nothing else is said, a function prints every error and
 * returns the exit code. */

/* Supervises the job on the cluster that --kubeconfig, --context and --namespace select, as in
 * kubectl, with its metrics on the socket (NULL: none). */
int run_on_cluster(const struct options *options, const struct job_source *source,
		   const struct listening *metrics);
/* `submit`: creates the job as a TFJob on the cluster of the options, and prints its name. */
int submit_to_operator(const struct options *options, const struct job_source *source) MUST_USE;
/* `attach` to a job on the cluster of the options, a TFJob or one of `run --on kubernetes`. */
int attach_on_cluster(const struct options *options, const char *namespace_name, const char *name,
		      bool is_tfjob);
/* `operator` and `serve`: run until a signal asks them to stop. */
int operator_on_cluster(const struct options *options);
int serve_on_cluster(const struct options *options);

/* On a terminal a line shows the progress. */
int copy_call_run(const struct copy_call *call);
/* Runs the command (it ends with NULL) in the Pod of this replica, connected to our standard
 * streams as the options say, until it exits or a signal ends this call. Returns the command's exit
 * code, 126 when it could not be run, 125 when its code is unknown. */
int exec_on_cluster(const struct options *options, const struct copy_place *place,
		    const char *const *command);
/* Forwards until a signal comes or the job has finished. Each connection goes to the Pod that has
 * the replica's name at that time, so a restart cuts only the open connections. */
int port_forward_on_cluster(const struct port_forward_call *call);
/* Adds the stacks, or for a replica the reason why they could not be read, in the order of the
 * replicas. Runs its own loop until all have answered. The errors of kube_api_connect. If all Pods
 * have failed, the error of one: ERR_UNSUPPORTED without py-spy, or those of kube_exec_new. */
int stacks_on_cluster(const struct stacks_on_cluster_call *call, struct stacks *stacks,
		      struct err *err) MUST_USE;
/* At each interval, copies what is new in the log directory (pods/append_sync.h) into a temporary
 * directory of this machine, and shows that. A Pod that cannot be reached at the start is an error.
 * Later it is searched at each interval, since a restart gives its name to another Pod, and the
 * copied files stay visible. */
int tensorboard_on_cluster(const struct tensorboard_call *call);

/* The files of a server of ours, which need libcrypto. Reads a token, or the hash of one. The
 * errors of input_read_secret, and ERR_INVALID. */
int server_files_read_token(const char *path, struct server_access *access,
			    struct err *err) MUST_USE;
/* Reads tls.crt and tls.key, the names in a Secret of type kubernetes.io/tls, and creates them if
 * they are missing. */
int server_files_open_tls(const char *folder, struct server_access *access,
			  struct err *err) MUST_USE;
/* --make-token: writes a new token to a file, and its hash to FILE.hash; both are new files for
 * this user alone. A path that ends in .hash names the second file. */
int server_files_create_token(const char *path);

/* Prints an error of attach. Returns 4 if another process supervises the job, 125 if there is no
 * such job, else as kube_cluster_fail. Both programs have it (cmd_attach.c). */
int attach_fail(const struct err *err);
