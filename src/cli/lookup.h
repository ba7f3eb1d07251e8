/* From what a person writes to the job behind it, here or on a cluster.
 *
 * local/NAME is here, kubernetes/NAMESPACE/NAME on the cluster. A plain NAME is here if it is
 * remembered here, else on the cluster, where a kubeconfig says which. Options that choose a
 * cluster (--context, --kubeconfig, --namespace) mean that one for every plain name. A plain name
 * of a job that this machine knows to go on on some cluster (jobs/cluster_job_record.h) is that
 * job; and one that its cluster has no more is the one that is remembered here. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "command/options.h"
#include "jobs/client.h"

#include <stdbool.h>
#include <stddef.h>

/* The options of this call that lead to its jobs, as words of a shell: " --context lab"; "" for
 * none. Caller frees. */
char *lookup_choice(const struct options *options, bool is_on_cluster) MUST_USE;
/* How a command line names a job that this call means (spec/job_words.h); the namespace is NULL for
 * one of this machine. Caller frees. */
char *lookup_words(const struct options *options, const char *namespace_name,
		   const char *name) MUST_USE;

struct lookup; /* the clients of one call, each opened when it is needed first */

/* A job, with the client that has it; all live as long as the lookup and what was written. */
struct found_job {
	struct client *client;
	const char *name; /* by which the client knows it */
	const struct options *options; /* of the call, which lead to its cluster */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
};

/* The namespace of a job on a cluster, borrowed; NULL for a job of this machine. */
const char *lookup_namespace(const struct found_job *found);

/* The command has the rows of CLUSTER_JOB_ROWS (cli/kube_cluster.h). The caller ends it with
 * lookup_free. */
struct lookup *lookup_new(const struct options *options) MUST_USE;
void lookup_free(struct lookup *lookup); /* NULL is fine */
void lookup_cleanup(struct lookup **lookup);

/* Options of the call choose a cluster. */
bool lookup_means_cluster(const struct options *options);

/* The jobs of this machine. */
int lookup_here(struct lookup *lookup, struct client **ret_client, struct err *err) MUST_USE;
/* The jobs on the cluster: of a namespace, NULL for the one that is meant, or "" for all (only to
 * be listed). In the program that does not speak to clusters this goes on as the other one and does
 * not come back (cli/kubernetes_program.h): call it before anything was changed or printed. */
int lookup_on_cluster(struct lookup *lookup, const char *namespace_name, struct client **ret_client,
		      struct err *err) MUST_USE;

/* The job that is meant, which was there a moment ago; goes on as the other program like
 * lookup_on_cluster. The beginning of a name will do where only one job there has it; NULL is the
 * job of lookup_newest_job. ERR_NOT_FOUND says where it was looked for and what may have been
 * meant; another error with both facts when it is not here and the cluster cannot be asked. */
int lookup_job(struct lookup *lookup, const char *argument, struct found_job *ret_found,
	       struct err *err) MUST_USE;

/* A job of this name that this machine knows to go on on some cluster; of one that has ended there
 * in between, what is remembered. ERR_NOT_FOUND: none is known. */
int lookup_known(struct lookup *lookup, const char *name, struct found_job *ret_found,
		 struct err *err) MUST_USE;

/* What this machine remembers of a job on a cluster that goes on as far as is known here, for when
 * that cannot be asked: its record and the lines that are here, of the client for this machine.
 * ERR_NOT_FOUND. */
int lookup_remembered(struct lookup *lookup, const char *argument, struct found_job *ret_found,
		      struct err *err) MUST_USE;

/* The job that was made last: on this machine, or in the namespace on the cluster that options
 * choose. ERR_NOT_FOUND: there is none. */
int lookup_newest_job(struct lookup *lookup, struct found_job *ret_found, struct err *err) MUST_USE;

/* The job there that alone has not ended, which is told. ERR_NOT_FOUND: none; ERR_INVALID names
 * several. */
int lookup_only_running_job(struct lookup *lookup, struct found_job *ret_found,
			    struct err *err) MUST_USE;
/* From now on names are to be whole: nothing is to be deleted that has another one. */
void lookup_take_whole_names(struct lookup *lookup);

struct found_jobs {
	struct found_job *list;
	size_t count;
};

/* The jobs of all arguments of the call; what is not found is told. Gives the exit code so far. The
 * caller ends them with found_jobs_done. */
int lookup_jobs(struct lookup *lookup, struct found_jobs *ret_jobs) MUST_USE;
void found_jobs_done(struct found_jobs *jobs);

/* Where jobs are remembered: --state-dir, else the folder of jobs/state_folder.h. Caller frees.
 * ERR_NOT_FOUND when there is no home. */
int lookup_state_folder(const struct options *options, char **ret_folder, struct err *err) MUST_USE;

/* The client for the jobs of this machine alone, which lookup_close gives back. */
int lookup_open(const struct options *options, struct client **ret_client,
		struct err *err) MUST_USE;
void lookup_close(struct client **client);
