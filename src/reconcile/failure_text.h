/* The block that tells the user why a job failed, identical wherever it is shown. */
#pragma once

#include "base/text.h"
#include "status/status.h"

struct failure_style {
	int offset; /* minutes that the reader's time zone is ahead of UTC */
	bool skips_last_lines; /* the reader has just seen them */
	const char *script; /* that the replica ran; NULL: not shown */
	bool is_resumable; /* `muster resume` continues the job, if a user has stopped it */
};

/* Appends what failed first, and how (status->failure, which is set): a sentence, and for a
 * replica's failure the rows that explain it. Its commands name the job by `job_words`
 * (spec/job.h).
 *
 *     worker-1 exited with code 1 after 12s (attempt 0)
 *       error         ValueError: shapes do not match
 *       advice        … if the cause is a known one
 *       rank          2 of 4
 *       PID           4711
 *       script        train.py
 *       at            2026-11-21T16:02:11Z
 *       last output   | Traceback (most recent call last):
 *                     | ValueError: shapes do not match
 *       consequences  worker-0 was stopped by muster
 *       stacks        worker-0: all_reduce (distributed_c10d.py:4181), from train.py:33
 *       log file      /home/me/.local/state/muster/jobs/…/worker-1.0.log
 *       all stacks    muster stacks train
 *       full log      muster logs train --role worker --index 1 --attempt 0 */
void failure_describe(const struct status *status, const char *job_words,
		      const struct failure_style *style, struct text *text);

/* What to do about a cause known by the reason, the exception or the last lines; or NULL. */
const char *failure_advice(const struct failure *failure);
/* Appends only what the output of a program says: the rows error, advice and last output. */
void failure_explain(const struct failure *failure, struct text *text);
