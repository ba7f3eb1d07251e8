/* A job as the store keeps it (texts), read into the model and written back. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "core/job.h"
#include "core/status.h"
#include "store/store.h"

/* Reads document and status. The caller frees the job; the status lives in the arena. A record is
 * read leniently: what an older or newer muster accepted must stay readable. */
int record_read(const struct store_record *record, struct arena *arena, struct job **ret_job,
		struct status *ret_status, struct err *err) MUST_USE;

/* Writes the status, and the summary that follows from it, as a change of `version`. `supervisor`
 * is the new text of who looks after the job; NULL: as it was. */
int record_write_status(struct store *store, const struct job *job, int64_t version,
			const struct status *status, const char *supervisor, int64_t *ret_version,
			struct err *err) MUST_USE;

/* Changes the document of a job by a JSON merge patch (RFC 7396), over the changes of others. The
 * result must be a job that can run (ERR_INVALID lists what is wrong); its name cannot change. */
int record_patch(struct store *store, const char *name, const struct json *patch,
		 struct err *err) MUST_USE;

/* Asks for an orderly end (JOB_ANNOTATION_STOP) with a word of stop_reason_words; `grace` is the
 * time between TERM and KILL from now on, -1: the job's own. The word of an earlier request
 * stays. */
int record_ask_to_stop(struct store *store, const char *name, const char *reason, msec grace,
		       struct err *err) MUST_USE;
