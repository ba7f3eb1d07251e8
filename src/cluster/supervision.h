/* Supervises one job on a cluster from this machine until the job has finished: a supervision
 * (supervise/supervision.h) with the store on the cluster, the back end for Kubernetes and the
 * job's Lease.
 *
 * All processes and all records of the job are on the cluster. When this process is killed, Pods
 * keep running, failed Pods are not restarted, and another muster process that attaches takes over.
 * Only the holder of the job's Lease acts (kube/lease_keeper.h); docs/design/0017. */
#pragma once

#include "base/err.h"
#include "kube/login.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/pod_fields.h"
#include "supervise/supervision.h"

#include <stdbool.h>

struct supervision_kube_request {
	struct supervision_request base;
	struct job *job; /* to be created; borrowed; in its namespace. Gets its uid. NULL: attach_to
			    names an existing job */
	const struct job_file *files; /* its files, which go into its Pods */
	size_t n_files;
	const struct job_secret *secret; /* its variables; NULL if no job is to be created */
	const struct pod_file
		*pod_files; /* files of its Pod template: warnings name places in them */
	size_t n_pod_files;
	const char *const
		*fetch_places; /* destinations of its fetches (spec/fetch.h), in their order; NULL:
				  a directory with the Pod's name in the working directory */
	size_t n_fetch_places;
	bool replaces_finished; /* a finished job of this name is deleted first */

	const char *attach_to; /* name of an existing job in namespace_name */
	const char *namespace_name;
	bool is_tfjob; /* it is a TFJob object, managed by an operator: it is only followed */
	bool trusts; /* attaches also if this machine did not create the job */

	const char *place; /* its cluster, by cluster_job_place_write (jobs/cluster_job_record.h) */
	kube_log_in_fn log_in; /* for each connection it opens */
	void *data;
};

/* A job to create: creates its objects and supervises it. However it ends, all objects are deleted
 * after its directories were fetched. If a directory was not fetched, the exit code of a job that
 * succeeded becomes 125. After a lost terminal (SIGHUP), supervision continues without one. An
 * error means that nothing was started. Only ERR_CONFLICT may also come later: another muster
 * process holds the job's Lease and keeps the job.
 *
 * A job to attach to: takes it over if it has no active supervisor, and supervises it in the same
 * way. While another process supervises it, its output and status are shown, until that process has
 * stopped. An interrupt leaves the job unchanged. ERR_NOT_FOUND when there is no such job;
 * ERR_CONFLICT when this machine does not know it, its Pods have privileges
 * (spec/pod_security.h), and `trusts` is false.
 *
 * A TFJob to attach to: its output and status are shown until it has finished. Pods that its
 * cleanPodPolicy leaves keep running.
 *
 * Detached: returns when the job's objects were created and its Lease is held; ERR_CONFLICT when
 * another process supervises it.
 *
 * *ret_exit_code is the job's own, or 128 plus the number of the signal that ended the output. */
int supervision_kube_run(const struct supervision_kube_request *request, int *ret_exit_code,
			 struct err *err) MUST_USE;
