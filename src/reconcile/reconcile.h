/* The decision: what a job is, what was remembered, what is true now, and the time go in; a plan
 * comes out. Pure. */
#pragma once

#include "base/mem.h"
#include "reconcile/observed.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

/* Always has an answer for valid input. Deciding on the outcome of a fully applied plan, at the
 * same time, gives an empty plan. `arena` owns the plan's parts; the plan may also point into job,
 * last_status and observed, which must outlive it. */
void reconcile_decide(const struct job *job, const struct status *last_status,
		      const struct observed *observed, msec now, struct arena *arena,
		      struct plan *ret_plan);

/* The status that a job begins with: condition Created, every replica pending. Lives in the arena;
 * it may point into the job. */
void reconcile_begin(const struct job *job, msec now, struct arena *arena,
		     struct status *ret_status);

/* A job that was stopped or has failed goes on: everything of it starts once more, as its next
 * attempt, with all the restarts and the time that a new job has. `job` is as it goes on, without
 * the request to stop. The status lives in the arena; it may point into the job and last_status. */
void reconcile_resume(const struct job *job, const struct status *last_status, msec now,
		      struct arena *arena, struct status *ret_status);

/* Why a job has ended that nobody saw end. */
#define RECONCILE_SUPERVISOR_LOST "SupervisorLost" /* its supervisor died without a word */
#define RECONCILE_DELETED "Deleted" /* somebody deleted its record */
#define RECONCILE_END_UNKNOWN "EndUnknown" /* it is no more on the cluster, and nobody told us */

/* The end of such a job, of which nothing is left: Failed with that reason ("TFJobSupervisorLost")
 * and exit code 125; what ran is stopped. `why` is a sentence for people. A job that was finished
 * already stays as it ended. The plan may point into `reason` and `why`, too. */
void reconcile_lost(const struct job *job, const struct status *last_status, const char *reason,
		    const char *why, msec now, struct arena *arena, struct plan *ret_plan);
