/* Finds the job that a user names, on this machine or on a cluster.
 *
 * local/NAME is a job of this machine, kubernetes/NAMESPACE/NAME one of the cluster. A plain NAME
 * is a recorded job of this machine, else a job of the cluster of the kubeconfig. Options that
 * select a cluster (--context, --kubeconfig, --namespace) apply to every plain name. A plain name
 * of a job that is active on some cluster by this machine's records (jobs/cluster_job_record.h) is
 * that job; if the cluster has deleted it, the record is used. */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "jobs/client.h"

/* The options of this command that select its jobs, as words of a shell: " --context lab"; "" for
 * none. Caller frees. */
char *lookup_choice(const struct options *options, bool is_on_cluster) MUST_USE;
/* The job as a command line names it, for hints (spec/job.h); the namespace is NULL for a
 * local job. Caller frees. */
char *lookup_words(const struct options *options, const char *namespace_name,
		   const char *name) MUST_USE;

struct lookup; /* the clients of one command, each opened when first needed */

/* A job, with its client; valid as long as the lookup and the argument. */
struct found_job {
	struct client *client;
	const char *name; /* in the client */
	const struct options *options; /* of the command; these select its cluster */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
	const char *namespace_name; /* of a job on a cluster; NULL for a job of this machine */
};
/* lookup_words of the job. Caller frees. */
char *found_job_words(const struct found_job *found) MUST_USE;

/* The command has the rows of CLUSTER_JOB_ROWS (cli/kube_cluster.h). The caller frees it with
 * lookup_free. */
struct lookup *lookup_new(const struct options *options) MUST_USE;
void lookup_free(struct lookup *lookup); /* NULL is fine */
void lookup_cleanup(struct lookup **lookup);

/* Whether options of the command select a cluster. */
bool lookup_means_cluster(const struct options *options);

/* The jobs of this machine, or those on the cluster: of a namespace, NULL for the selected one, or
 * "" for all (a client that only lists). In the program without cluster support, this executes the
 * other program and does not return (cli/kubernetes_program.h): call it before anything was changed
 * or printed. */
int lookup_client(struct lookup *lookup, bool is_on_cluster, const char *namespace_name,
		  struct client **ret_client, struct err *err) MUST_USE;

/* The named job, which existed a moment ago; may execute the other program like lookup_client.
 * A prefix is enough: of the jobs on this machine or in the namespace that have it, the only one
 * that runs is meant, or the newest if none does. NULL is the job of lookup_newest_job.
 * ERR_NOT_FOUND names where it was searched and similar names. If the job is not on this machine
 * and the cluster cannot be reached, the error says both. */
int lookup_job(struct lookup *lookup, const char *argument, struct found_job *ret_found,
	       struct err *err) MUST_USE;

/* A job of this name that is active on some cluster by this machine's records; if it has finished
 * on the cluster since, its record. ERR_NOT_FOUND: no record. */
int lookup_known(struct lookup *lookup, const char *name, struct found_job *ret_found,
		 struct err *err) MUST_USE;

/* This machine's record and logs of a job that is active on a cluster, as far as known, by the
 * client for this machine. For use when the cluster cannot be reached. ERR_NOT_FOUND. */
int lookup_remembered(struct lookup *lookup, const char *argument, struct found_job *ret_found,
		      struct err *err) MUST_USE;

/* The job created last: on this machine, or in the selected namespace on the cluster.
 * ERR_NOT_FOUND: there is none. */
int lookup_newest_job(struct lookup *lookup, struct found_job *ret_found, struct err *err) MUST_USE;

/* The only unfinished job of the same place; prints its name. ERR_NOT_FOUND: none; ERR_INVALID
 * names several. */
int lookup_only_running_job(struct lookup *lookup, struct found_job *ret_found,
			    struct err *err) MUST_USE;
/* How much of a name may be missing. */
enum lookup_names {
	LOOKUP_PREFIXES, /* anything */
	LOOKUP_UNGENERATED, /* only the characters that muster chose (job_name_generate): `stop
			       exp-1` must not stop exp-10, when exp-1 is gone */
	LOOKUP_WHOLE, /* nothing: no other job must be deleted */
};
void lookup_take_names(struct lookup *lookup, enum lookup_names names);

struct found_jobs {
	struct found_job *list;
	size_t count;
};

/* The jobs of all arguments of the command; missing ones are reported. The list has room for one
 * more, and lives as long as the lookup. Returns the exit code so far. */
int lookup_jobs(struct lookup *lookup, struct found_jobs *ret_jobs) MUST_USE;
