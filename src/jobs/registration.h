/* Records a local job in the store: a new one, also over a finished one, or a resumed one. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "spec/job.h"
#include "store/store.h"

/* A random UUID (RFC 4122, section 4.4); caller frees. */
char *job_uid_new(void) MUST_USE;
/* Gives the job a uid that no other job will ever have. */
void job_uid_set_new(struct job *job);

/* Records the job (which has its uid) with the calling process and its parent as its supervisor.
 * ERR_EXISTS when the name is taken; with `replaces_finished` only by a job that has not finished.
 * *ret_replaced_uid is the uid of the replaced job, whose directory still exists, or NULL; the
 * caller frees it. */
int registration_register(struct store *store, const struct job *job, bool replaces_finished,
			  msec now, char **ret_replaced_uid, struct err *err) MUST_USE;

/* Resuming: a job that was stopped or has failed continues under its name and uid, in its log
 * directory, with its next attempts.
 *
 * The job to resume, with its uid: without the stop request, and not suspended. The caller frees
 * it. ERR_REFUSED, with what to do, if it has not finished, has succeeded, or ran on another
 * machine or on a cluster. */
int resumption_read(struct store *store, const char *name, struct job **ret_job,
		    struct err *err) MUST_USE;

/* Makes the calling process its supervisor. If two processes try at the same time, the second gets
 * ERR_REFUSED. ERR_NOT_FOUND when the job was deleted or replaced meanwhile. */
int resumption_register(struct store *store, const struct job *job, msec now,
			struct err *err) MUST_USE;
