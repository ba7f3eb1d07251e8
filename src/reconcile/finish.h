/* The end of a job: when it has succeeded, failed, exceeded its deadline or been stopped, what is
 * removed then, and when it is deleted. */
#pragma once

#include "base/msec.h"
#include "reconcile/decision.h"
#include "spec/job.h"
#include "status/status.h"

#include <stdbool.h>

/* Each sets the end state with TFJob's condition, exit code, note and completion time. */

/* By the success policy. True if the job has succeeded now. */
bool finish_if_succeeded(struct decision *decision);
/* A user asked the job to stop, and no replica is live. */
void finish_if_stopped(struct decision *decision);
/* Past activeDeadlineSeconds. True if the job has failed now. */
bool finish_if_too_late(struct decision *decision);
/* All workers of a dynamic job have ended, and none brought success. */
void finish_if_nobody_is_left(struct decision *decision);
/* A replica failed and its policy allows no restart. */
void finish_on_failure(struct decision *decision, const struct replica *failed);
/* A replica failed that may restart, but the limit of restarts is reached. */
void finish_on_backoff_limit(struct decision *decision, const struct replica *failed,
			     struct failure *failure);

/* Ends the job of a member by the elastic job's verdict, after the member has left it. */
void finish_as_member(struct decision *decision, const struct observed_world *world);

/* No supervisor is left, and none of its replicas is running. */
void finish_as_lost(struct decision *decision, const char *reason, const char *why);

/* How a job at rest treats its own replicas. */
struct ending {
	bool ends_live; /* live replicas are asked to stop */
	bool removes_all; /* remove ended replicas too, not only those that we stopped */
	bool is_in_turns; /* the chief is stopped first, parameter servers last */
	msec grace; /* between the signal and SIGKILL */
};

/* For a job that decision_is_at_rest. */
struct ending finish_ending(const struct decision *decision);

/* Time between SIGTERM and SIGKILL for leftovers of an old attempt. It is that of a planned end,
 * but shorter for survivors of a failure, which have nothing left to save. */
msec finish_grace_of_leftover(const struct decision *decision);

/* When a finished job is to be deleted (ttlSecondsAfterFinished). MSEC_NEVER if the job is kept, is
 * not finished, or is suspended. training-operator ignores the time to live of a suspended job, so
 * its users keep jobs that way. */
msec expiry_of_job(const struct job *job, const struct status *status);
