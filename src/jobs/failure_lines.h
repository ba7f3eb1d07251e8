/* What a failure shows beyond what was decided: the last lines of what failed and the exception in
 * them, or, where no replica is to blame, where all processes were. Used by the reconciler alone.
 */
#pragma once

#include "jobs/backend.h"
#include "reconcile/plan.h"
#include "spec/job.h"

#include <stdbool.h>

/* The last line of each replica at some moment. */
struct said {
	struct arena *arena; /* NULL: none were read */
	const char **lines;
	size_t count;
};

/* Zero it to begin. */
struct failure_lines {
	bool awaits_lines; /* of the failure in the status, which are about to come */
	bool awaits_stacks; /* of processes that were asked to end and to keep them */
	struct said said; /* by these before they heard of it */
};
void failure_lines_done(struct failure_lines *lines);

/* Adds what is there now to the failure of the plan, whose status has changed then, and hands it to
 * the back end. Without it the failure is told all the same; what comes later is added later. */
void failure_lines_add(struct failure_lines *lines, struct backend *backend, const struct job *job,
		       struct plan *plan, struct arena *arena);
/* What was added last was not written. */
void failure_lines_add_again(struct failure_lines *lines);
/* The actions of the plan were begun; the back end has not signalled anybody yet that is to keep
 * its stacks. */
void failure_lines_note_actions(struct failure_lines *lines, struct backend *backend,
				const struct job *job, const struct plan *plan);
