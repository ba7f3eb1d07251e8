/* What the user is told of a job: its progress, and at its end one line. For a failure a block
 * follows with the replica that failed first, how, and the consequences. */
#pragma once

#include "base/text.h"
#include "reconcile/failure_text.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

/* Appends, for a finished job, one of
 *
 *     muster: job train succeeded: 2 workers in 8s, 1 restart
 *     muster: job train failed after 12s: worker-1 exited with code 1 after 11s (attempt 0)
 *     muster: job train ended after 5s: the job was stopped (interrupted)
 *     muster: job train ended after 5s: its record was deleted, so its processes were ended
 *
 * A failure has the rows of reconcile/failure_text, which name the job by `job_words`
 * (spec/job.h). */
void report_outcome(const struct job *job, const struct status *status, const char *job_words,
		    const struct failure_style *style, struct text *text);

/* Appends "2 of 4 running, waiting for worker-3"; nothing while all that should run does, and after
 * the end of the job. For Pods (`startup` is not NULL) it says how far their start has come, and
 * what holds up the first of them. */
void progress_describe(const struct status *status, const struct startup *startup, msec now,
		       struct text *text);
