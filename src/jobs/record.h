/* Converts a job between the store's texts and the model. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "reconcile/summary.h"
#include "spec/job.h"
#include "status/status.h"
#include "store/store.h"

/* The record of a new job, which has its uid: document, status (if `is_small` by
 * reconcile/compact_status.h) and summary. The caller frees it with store_record_done. */
struct store_record record_new(const struct job *job, const struct status *status, bool is_small,
			       const char *supervisor, msec now) MUST_USE;

/* Reads the document; the caller frees the job. Reading is lenient: a document that an older or
 * newer muster accepted must stay readable. */
int record_read_job(const struct store_record *record, struct job **ret_job,
		    struct err *err) MUST_USE;
/* The same for a document of which only the metadata can be read: a job without roles. */
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

/* Whether no supervisor has acted for the job: it was applied to a cluster as `render` shows it. */
bool record_is_untouched(const struct store_record *record);

/* The summary for `ps`; empty if it cannot be read. Its texts live in the arena. */
void record_read_summary(const struct store_record *record, struct arena *arena,
			 struct summary *ret_summary);
bool record_is_finished(const struct store_record *record); /* by its summary */

/* Writes the status, and the summary that follows from it, as a change of `version`, and the
 * document if that is new. `supervisor` is the new supervisor text; NULL: unchanged. */
int record_write(struct store *store, const struct job *job, bool is_document_new, int64_t version,
		 const struct status *status, const char *supervisor, int64_t *ret_version,
		 struct err *err) MUST_USE;

/* The status of a TFJob object, in our order of members. Caller frees. */
char *record_tfjob_status_text(const struct status *status) MUST_USE;
/* The change that record_write makes in this store; its texts live in the arena. */
struct store_change record_change(const struct store *store, const struct job *job,
				  const struct status *status, struct arena *arena);

/* Sets the status in this copy of the record only, for a process that cannot write the store. */
void record_set_status(struct store_record *record, const struct job *job,
		       const struct status *status, const char *supervisor);

/* Changes the document of a job by a JSON merge patch (RFC 7396), again if another client changes
 * it meanwhile. The result must be a job that can run (ERR_INVALID lists the errors) and keep its
 * name. */
int record_patch(struct store *store, const char *name, const struct json *patch,
		 struct err *err) MUST_USE;

/* Checks that the job of this record, with the patch, can run and keeps its name. ERR_INVALID. */
int record_check_patch(const struct store_record *record, const struct json *patch,
		       struct err *err) MUST_USE;
/* The patch by which record_request_stop asks the job of this record to stop; NULL: not needed. */
int record_stop_patch(const struct store_record *record, const char *reason, msec grace,
		      struct json **ret_patch, struct err *err) MUST_USE;

/* Requests a graceful stop (JOB_ANNOTATION_STOP) with a word of stop_reason_words. `grace` is the
 * grace period between the signal and SIGKILL for this stop, -1: the job's own. The word of an
 * earlier request stays. */
int record_request_stop(struct store *store, const char *name, const char *reason, msec grace,
			struct err *err) MUST_USE;

/* The same in this copy of the record only, which is to be written. */
int record_add_stop(struct store_record *record, const char *reason, msec grace,
		    bool *ret_is_changed, struct err *err) MUST_USE;

/* Changes the supervisor in the record. "": the job has finished, and no process of it is left on
 * this machine; then its claims are released, too. */
int record_set_supervisor(struct store *store, const char *name, const char *uid,
			  const char *supervisor, struct err *err) MUST_USE;

/* Kind of the claims on TCP ports of this machine. */
#define CLAIM_PORT "port"
/* And on its GPUs, which are numbered as in `struct gpus`. */
#define CLAIM_GPU "gpu"
