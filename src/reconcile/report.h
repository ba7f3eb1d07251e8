/* What a person is told of a job: how far it is, and when a job has ended: one line always, and for
 * a failure the block that says which replica failed first, how, and what only followed. */
#pragma once

#include "base/msec.h"
#include "base/text.h"
#include "reconcile/failure_text.h"
#include "reconcile/startup.h"
#include "spec/job.h"
#include "status/status.h"

/* Adds, of a job that has ended, one of
 *
 *     muster: job train succeeded: 2 workers in 8s, 1 restart
 *     muster: job train failed after 12s: worker-1 exited with code 1 after 11s (attempt 0)
 *     muster: job train ended after 5s: the job was stopped (interrupted)
 *     muster: job train ended after 5s: its record was deleted, so its processes were ended
 *
 * a failure with the rows of reconcile/failure_text, which name the job by `job_words`
 * (spec/job_words.h). */
void report_outcome(const struct job *job, const struct status *status, const char *job_words,
		    const struct failure_style *style, struct text *text);

/* Adds "2 of 4 running, waiting for worker-3"; nothing while all that should run does, and when the
 * job has ended. Of Pods (`startup` is not NULL) it says how far their start has come, and what
 * the first of them is held up by. */
void progress_describe(const struct status *status, const struct startup *startup, msec now,
		       struct text *text);
