/* A job of this machine that was stopped or has failed goes on: under its name and uid, in its
 * folder of logs, with its next attempts. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "spec/job.h"
#include "store/store.h"

/* The job as it is to go on, with its uid: without the request to stop, and not suspended. The
 * caller frees it. ERR_REFUSED, with what to do, where it has not ended, has succeeded, ran on
 * another machine or on a cluster. */
int resumption_read(struct store *store, const char *name, struct job **ret_job,
		    struct err *err) MUST_USE;

/* Makes the calling process its supervisor. Of two that try at once the second gets
 * ERR_REFUSED. ERR_NOT_FOUND when the job was removed or replaced meanwhile. */
int resumption_register(struct store *store, const struct job *job, msec now,
			struct err *err) MUST_USE;
