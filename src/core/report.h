/* What a person is told when a job has ended: one line always, and for a failure the block that
 * says which replica failed first, how, and what only followed. */
#pragma once

#include "base/text.h"
#include "core/job.h"
#include "core/status.h"

/* Adds one of
 *
 *     muster: job train succeeded: 2 workers in 8s, 1 restart
 *     muster: job train failed after 12s: worker-1 exited with code 1 after 11s (attempt 0)
 *     muster: job train ended after 5s: the job was stopped (interrupted)
 *
 * a failure with the rows of core/failure_text, which name the job by `job_words`
 * (core/job_words.h), for a reader whose clocks are `offset` minutes ahead of UTC. */
void report_outcome(const struct job *job, const struct status *status, const char *job_words,
		    int offset, struct text *text);
