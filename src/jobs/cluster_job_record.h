/* Jobs on clusters that this machine began or took over, remembered here from then on: where they
 * run, so that they are found by their names alone; and when their cluster has them no more, what
 * became of them as far as it is known, with the logs that are here.
 *
 * While it goes on, such a job lies in the store under "kubernetes/NAMESPACE/NAME", which no job of
 * this machine can have; ended, under its own name (jobs/finished_job.h). Its place stands
 * where others name their supervisor. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/job.h"
#include "store/store.h"

#include <stdbool.h>

/* Where a job runs. */
struct cluster_job_place {
	const char *server; /* its API server */
	const char *context, *kubeconfig; /* by which it was found; NULL: not said */
	const char *namespace_name;
};

struct cluster_job_record {
	struct store_record record; /* as far as a list has it */
	struct json *place; /* what `at` points into */
	struct cluster_job_place at;
};

/* The name that the record of such a job has while it goes on. Caller frees. */
char *cluster_job_record_name(const char *namespace_name, const char *name) MUST_USE;

/* The place as the text that a record keeps (store_record.supervisor). Caller frees. */
char *cluster_job_place_write(const struct cluster_job_place *place) MUST_USE;

/* Remembers a job that goes on, as its record on the cluster is now; takes the place of what was
 * remembered of it, or of one of that name before it. */
int cluster_job_record_save(const char *state_folder, const struct store_record *record,
			    const char *place, struct err *err) MUST_USE;

/* The job of this name that goes on on a cluster. ERR_NOT_FOUND where there is none, or where one
 * of this machine that goes on has the name. The caller ends it with cluster_job_record_done. */
int cluster_job_record_find(const char *state_folder, const char *name,
			    struct cluster_job_record *ret_job, struct err *err) MUST_USE;
/* The job of this record, whether it goes on, as far as is known here, or has ended.
 * ERR_NOT_FOUND. */
int cluster_job_record_get(const char *state_folder, const char *record_name,
			   struct cluster_job_record *ret_job, struct err *err) MUST_USE;
/* The job of this name in this namespace of this server, whether it goes on, as far as is known
 * here, or has ended. ERR_NOT_FOUND. */
int cluster_job_record_find_at(const char *state_folder, const struct cluster_job_place *place,
			       const char *name, struct cluster_job_record *ret_job,
			       struct err *err) MUST_USE;
/* The job of this uid at this place (cluster_job_place_write), as its document was when it was
 * remembered last. The caller frees it. ERR_NOT_FOUND. */
int cluster_job_record_read(const char *state_folder, const char *place, const char *name,
			    const char *uid, struct job **ret_job, struct err *err) MUST_USE;
void cluster_job_record_done(struct cluster_job_record *job);

/* The cluster no longer has the job of this record: it is remembered as ended, for one of the
 * reasons of reconcile_lost. One that is no longer there, or had ended, is left alone. */
int cluster_job_record_finish(const char *state_folder, const char *record_name, const char *reason,
			      const char *why, struct err *err) MUST_USE;
