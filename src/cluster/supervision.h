/* One job on a cluster, seen through from this machine: a supervision (supervise/supervision.h)
 * with the store on the cluster, the back end for Kubernetes and the job's Lease, until the job has
 * ended.
 *
 * What runs, runs on the cluster, and all that is remembered of it is there: when this process is
 * killed, Pods go on, nothing that fails is started again, and another muster that attaches takes
 * over. The holder of the job's Lease (kube/lease_keeper.h) acts; docs/design/0017. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/login.h"
#include "spec/job.h"
#include "spec/job_files.h"
#include "spec/job_secret.h"
#include "spec/pod_place.h"
#include "supervise/request.h"

#include <stdbool.h>

struct supervision_kube_request {
	struct supervision_request base;
	struct job *job; /* to be made; borrowed; in its namespace. Gets its uid. NULL: attach_to is
			    there already */
	const struct job_file *files; /* that travel with it */
	size_t n_files;
	const struct job_secret *secret; /* its variables; NULL where there is no job to be made */
	const struct pod_file
		*pod_files; /* what its Pods are made of: warnings name places there */
	size_t n_pod_files;
	const char *const
		*fetch_places; /* where its folders go (spec/fetch.h), in their order;
				  NULL: into one of the Pod's name in the working folder */
	size_t n_fetch_places;
	bool replaces_finished; /* a finished job of this name is deleted first */

	const char *attach_to; /* name of a job that was made before, in namespace_name */
	const char *namespace_name;
	bool is_tfjob; /* it is a TFJob object, which an operator serves: it is looked at alone */
	bool trusts; /* though this machine did not make it */

	const char *place; /* where it runs: cluster_job_place_write of jobs/cluster_job_record.h */
	kube_log_in_fn log_in; /* for each connection of its own */
	void *data;
};

/* A job to be made: makes its objects and sees it through; all of them are deleted at the end,
 * whatever the end is, after its folders were fetched; one that was not makes the exit code of a
 * job that succeeded 125. When the terminal is lost (SIGHUP), it goes on without one. An error
 * means that nothing was started; only ERR_CONFLICT may also come later: another muster holds the
 * job's Lease, and the job is left to that one.
 *
 * A job to attach to: takes it over when it has no active supervisor, and sees it through in the
 * same way. While somebody else watches it, its lines and state are shown, until that one is gone.
 * An interrupt leaves the job as it is. ERR_NOT_FOUND when there is no such job; ERR_CONFLICT when
 * it is unknown here, its Pods may do more than compute (spec/pod_privileges.h), and nobody
 * `trusts` it.
 *
 * A TFJob to attach to: its lines and state are shown until it has ended. What its cleanPodPolicy
 * leaves running goes on.
 *
 * Detached: returns when the job's objects are made and its Lease is held; ERR_CONFLICT when
 * somebody else watches it.
 *
 * *ret_exit_code is the job's own, or 128 and the number of the signal that ended the showing. */
int supervision_kube_run(const struct supervision_kube_request *request, int *ret_exit_code,
			 struct err *err) MUST_USE;
