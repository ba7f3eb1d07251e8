/* The decision: a plan from the job, its recorded status, the observed state and the time. Pure. */
#pragma once

#include "base/mem.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

/* Always succeeds for valid input. A decision on the result of a fully applied plan, at the same
 * time, gives an empty plan. `arena` owns the plan's parts; the plan may also point into job,
 * last_status and observed, which must outlive it. */
void reconcile_decide(const struct job *job, const struct status *last_status,
		      const struct observed *observed, msec now, struct arena *arena,
		      struct plan *ret_plan);

/* A job's first status: Created, each replica pending. In the arena; it may point into the job. */
void reconcile_begin(const struct job *job, msec now, struct arena *arena,
		     struct status *ret_status);

/* Resumes a stopped or failed job: every replica starts its next attempt, with the restarts and the
 * time of a new job. `job` must be without the request to stop. The status is in the arena; it may
 * point into the job and last_status. */
void reconcile_resume(const struct job *job, const struct status *last_status, msec now,
		      struct arena *arena, struct status *ret_status);

/* Reasons for a job whose end no supervisor saw. */
#define RECONCILE_SUPERVISOR_LOST "SupervisorLost" /* its supervisor died silently */
#define RECONCILE_DELETED "Deleted" /* its record was deleted */
#define RECONCILE_END_UNKNOWN "EndUnknown" /* its end on the cluster was not seen */

/* Ends such a job, of which nothing is left: Failed with that reason ("TFJobSupervisorLost") and
 * exit code 125; running replicas become stopped. `why` is a sentence for the user. A job that was
 * already finished stays unchanged. The plan may also point into `reason` and `why`. */
void reconcile_lost(const struct job *job, const struct status *last_status, const char *reason,
		    const char *why, msec now, struct arena *arena, struct plan *ret_plan);
