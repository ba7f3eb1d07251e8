/* A job as the store keeps it (texts), read into the model and written back. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "reconcile/summary.h"
#include "spec/job.h"
#include "status/status.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* The record of a new job, which has its uid: document, status (reconcile/compact_status.h where it
 * `is_small`) and summary. The caller ends it with store_record_done. */
struct store_record record_new(const struct job *job, const struct status *status, bool is_small,
			       const char *supervisor, msec now) MUST_USE;

/* Reads the document: the caller frees the job. A record is read leniently: what an older or newer
 * muster accepted must stay readable. */
int record_read_job(const struct store_record *record, struct job **ret_job,
		    struct err *err) MUST_USE;
/* The same of a document of which no more can be read than whose job it is: a job without roles.
 */
int record_read_bare_job(const struct store_record *record, struct job **ret_job,
			 struct err *err) MUST_USE;
/* Reads the status, which lives in the arena. */
int record_read_status(const struct store_record *record, struct arena *arena,
		       struct status *ret_status, struct err *err) MUST_USE;
/* Reads document and status. The caller frees the job; the status lives in the arena. */
int record_read(const struct store_record *record, struct arena *arena, struct job **ret_job,
		struct status *ret_status, struct err *err) MUST_USE;

/* The whole TFJob, with its status and what an API server would add; the caller frees it. */
int record_read_tfjob(const struct store_record *record, struct json **ret_tfjob,
		      struct err *err) MUST_USE;
/* Adds to a TFJob what an API server would: uid, creationTimestamp, resourceVersion. */
void record_add_metadata(struct json *tfjob, const char *uid, msec created, int64_t version);

/* Nobody has acted for the job so far: it was applied to a cluster as `render` shows it. */
bool record_is_untouched(const struct store_record *record);

/* What `ps` shows of it; one that cannot be read is empty. Its texts live in the arena. */
void record_read_summary(const struct store_record *record, struct arena *arena,
			 struct summary *ret_summary);
bool record_is_finished(const struct store_record *record); /* by its summary */

/* Writes the status, and the summary that follows from it, as a change of `version`. `supervisor`
 * is the new text of its supervisor; NULL: as it was. */
int record_write_status(struct store *store, const struct job *job, int64_t version,
			const struct status *status, const char *supervisor, int64_t *ret_version,
			struct err *err) MUST_USE;

/* The status of a TFJob object, in our order of members. Caller frees. */
char *record_tfjob_status_text(const struct status *status) MUST_USE;
/* What that writes into this store, in texts that live in the arena. */
struct store_change record_change(const struct store *store, const struct job *job,
				  const struct status *status, struct arena *arena);

/* The same, and the document as well. */
int record_write_all(struct store *store, const struct job *job, int64_t version,
		     const struct status *status, const char *supervisor, int64_t *ret_version,
		     struct err *err) MUST_USE;

/* The same in this copy of the record alone, for a process that may read and cannot write. */
void record_set_status(struct store_record *record, const struct job *job,
		       const struct status *status, const char *supervisor);

/* Takes the place of what is remembered of the same job (name, uid, version of what was read). */
int record_rewrite(struct store *store, const struct store_record *record, int64_t version,
		   struct err *err) MUST_USE;

/* Changes the document of a job by a JSON merge patch (RFC 7396), over the changes of others. The
 * result must be a job that can run (ERR_INVALID lists what is wrong); its name cannot change. */
int record_patch(struct store *store, const char *name, const struct json *patch,
		 struct err *err) MUST_USE;

/* Whether the job of this record, with the patch, can run and has its name still. ERR_INVALID. */
int record_check_patch(const struct store_record *record, const struct json *patch,
		       struct err *err) MUST_USE;
/* The patch that asks the job of this record for an end as record_request_stop does; NULL where it
 * says that already. */
int record_stop_patch(const struct store_record *record, const char *reason, msec grace,
		      struct json **ret_patch, struct err *err) MUST_USE;

/* Asks for an orderly end (JOB_ANNOTATION_STOP) with a word of stop_reason_words; `grace` is the
 * time between the signal and KILL in this end, -1: the job's own. The word of an earlier request
 * stays. */
int record_request_stop(struct store *store, const char *name, const char *reason, msec grace,
			struct err *err) MUST_USE;

/* The same in this copy of the record alone, which is to be written. */
int record_add_stop(struct store_record *record, const char *reason, msec grace,
		    bool *ret_is_changed, struct err *err) MUST_USE;

/* The job has ended, and nothing is left of it here: nobody looks after it from now on, and its
 * claims are given back. */
int record_end_supervision(struct store *store, const char *name, const char *uid,
			   struct err *err) MUST_USE;

/* Kind of the claims on TCP ports of this machine. */
#define CLAIM_PORT "port"
/* And on its GPUs, which are numbered as in `struct gpus`. */
#define CLAIM_GPU "gpu"
