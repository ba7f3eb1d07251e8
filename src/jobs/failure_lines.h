/* Details of a failure in addition to the decision: the last lines of the failed replica and the
 * exception in them; or, if no replica is to blame, the stacks of all processes. */
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
	bool awaits_lines; /* lines for the failure in the status are still to come */
	bool awaits_stacks; /* of processes that were asked to exit with `keeps_stacks` */
	struct said said; /* last lines of these before they were signaled */
};
void failure_lines_done(struct failure_lines *lines);

/* Adds the available details to the failure of the plan, which changes the plan's status, and hands
 * the failure to the back end. A failure is reported also without details; later details are added
 * later. */
void failure_lines_add(struct failure_lines *lines, struct backend *backend, const struct job *job,
		       struct plan *plan, struct arena *arena);
/* The details added last were not written. */
void failure_lines_add_again(struct failure_lines *lines);
/* The plan's actions were started; no process whose stacks are kept was signaled yet. */
void failure_lines_note_actions(struct failure_lines *lines, struct backend *backend,
				const struct job *job, const struct plan *plan);
