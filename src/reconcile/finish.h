/* The end of a job: when it has succeeded, failed, run too long or been stopped, and what of it is
 * cleaned away then. */
#pragma once

#include "reconcile/decision.h"

#include <stdbool.h>

/* Each sets the end state with TFJob's condition, exit code, note and completion time. */

/* By the success policy. True when the job has succeeded now. */
bool finish_if_succeeded(struct decision *decision);
/* Somebody asked for the end, and no replica lives any more. */
void finish_if_stopped(struct decision *decision);
/* Past activeDeadlineSeconds. True when the job has failed now. */
bool finish_if_too_late(struct decision *decision);
/* Workers that come and go have all gone, and none of them brought success. */
void finish_if_nobody_is_left(struct decision *decision);
/* A replica failed and its policy allows no restart. */
void finish_on_failure(struct decision *decision, const struct replica *failed);
/* A replica failed like that, and there were restarts enough. */
void finish_on_backoff_limit(struct decision *decision, const struct replica *failed,
			     struct failure *failure);

/* Of a member that has left its elastic job, in which all is over for this machine. */
void finish_as_member(struct decision *decision, const struct observed_world *world);

/* Nobody looks after it, and nothing of it runs any more. */
void finish_as_lost(struct decision *decision, const char *reason, const char *why);

/* What a job at rest does with its own replicas. */
struct ending {
	bool ends_live; /* those that live are asked to end */
	bool removes_all; /* ended ones are removed as well, not only those that we ended */
	bool is_in_turns; /* a chief is asked first, parameter servers last */
	msec grace; /* between the signal and KILL */
};

/* For a job that decision_is_at_rest. */
struct ending finish_ending(const struct decision *decision);

/* Time between TERM and KILL for what an attempt that is over left behind: that of a planned end,
 * but replicas that survived a failure have nothing left to save. */
msec finish_grace_of_leftover(const struct decision *decision);
