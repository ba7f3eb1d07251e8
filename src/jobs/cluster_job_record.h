/* This machine's records of jobs on clusters that it created or took over. The job is found by its
 * name alone, on the cluster where it runs. After its cluster has deleted it, its last known status
 * and the logs of this machine stay.
 *
 * The record of an active job is in the store under "kubernetes/NAMESPACE/NAME", a name that no
 * local job can have. A finished one is under its own name, so that `muster ps -a`, `status` and
 * `logs` show it like a local job. The `supervisor` field contains the place. */
#pragma once

#include "base/err.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "store/store.h"

/* The cluster and namespace of a job. */
struct cluster_job_place {
	const char *server; /* its API server */
	const char *context, *kubeconfig; /* that selected it; NULL: not given */
	const char *namespace_name;
};

struct cluster_job_record {
	struct store_record record; /* as far as a list has it */
	struct json *place; /* owns the texts of `at` */
	struct cluster_job_place at;
};

/* The name of the record while the job is active. Caller frees. */
char *cluster_job_record_name(const char *namespace_name, const char *name) MUST_USE;

/* The place as text for the record (store_record.supervisor). Caller frees. */
char *cluster_job_place_write(const struct cluster_job_place *place) MUST_USE;

/* Records an active job, as its record on the cluster is now; replaces an earlier record of this
 * job, or of another job of that name. */
int cluster_job_record_save(const char *state_folder, const struct store_record *record,
			    const char *place, struct err *err) MUST_USE;

/* The active job of this name on a cluster. ERR_NOT_FOUND if there is none, or if an active local
 * job has the name. The caller frees it with cluster_job_record_done. */
int cluster_job_record_find(const char *state_folder, const char *name,
			    struct cluster_job_record *ret_job) MUST_USE;
/* The job of this record, active (as far as this machine knows) or finished. ERR_NOT_FOUND. */
int cluster_job_record_get(const char *state_folder, const char *record_name,
			   struct cluster_job_record *ret_job) MUST_USE;
/* The job of this name in this namespace of this server, active (as far as this machine knows) or
 * finished. ERR_NOT_FOUND. */
int cluster_job_record_find_at(const char *state_folder, const struct cluster_job_place *place,
			       const char *name, struct cluster_job_record *ret_job,
			       struct err *err) MUST_USE;
/* The job of this uid at this place (cluster_job_place_write), from its last recorded document. The
 * caller frees it. ERR_NOT_FOUND. */
int cluster_job_record_read(const char *state_folder, const char *place, const char *name,
			    const char *uid, struct job **ret_job, struct err *err) MUST_USE;
void cluster_job_record_done(struct cluster_job_record *job);

/* The cluster has deleted the job of this record: records it as ended, for one of the reasons of
 * reconcile_lost. Does nothing if the record is missing or finished. */
int cluster_job_record_finish(const char *state_folder, const char *record_name, const char *reason,
			      const char *why, struct err *err) MUST_USE;

/* Records a job that has finished, from its record on the cluster. It replaces the record of the
 * active job, `record_name`, and a finished job of its own name, whose logs are deleted. If an
 * active local job has its name, it stays under `record_name`. `place`: its cluster
 * (cluster_job_place_write). `observed` is the last observation of its Pods: their places are
 * recorded too. */
int cluster_job_record_save_finished(const char *state_folder, const char *record_name,
				     const char *place, const struct store_record *record,
				     const struct observed *observed, struct err *err) MUST_USE;
