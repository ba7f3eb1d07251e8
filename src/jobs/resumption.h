/* Resumes a local job that was stopped or has failed: under its name and uid, in its log directory,
 * with its next attempts. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"
#include "store/store.h"

/* The job to resume, with its uid: without the stop request, and not suspended. The caller frees
 * it. ERR_REFUSED, with what to do, if it has not finished, has succeeded, or ran on another
 * machine or on a cluster. */
int resumption_read(struct store *store, const char *name, struct job **ret_job,
		    struct err *err) MUST_USE;

/* Makes the calling process its supervisor. If two processes try at the same time, the second gets
 * ERR_REFUSED. ERR_NOT_FOUND when the job was deleted or replaced meanwhile. */
int resumption_register(struct store *store, const struct job *job, msec now,
			struct err *err) MUST_USE;
