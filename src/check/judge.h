/* What a check wants now, and what a step of it has come to: decided by what is known, and by
 * nothing else. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

/* The job should run now: start it when it has not started, end it when it is not wanted. */
bool check_wants(const struct check *check, enum check_job job);
/* Somebody complains of a silence: time to look whether a process is stopped, before the jobs are
 * ended. */
bool check_suspects(const struct check *check);
/* When to look again; MSEC_NEVER: when something comes. */
msec check_wake_at(const struct check *check);
/* The result is known, and no job runs any more (but the servers that stay after --setup-only). */
bool check_is_over(const struct check *check);
/* The step that is being taken; CHECK_STEP_COUNT when none is. */
enum check_step check_current_step(const struct check *check);

/* Passed, failed (then the check's fault is set) or still running. Servers that end are the end of
 * every step that needs them, and so is the time of a step. */
enum check_state check_judge(struct check *check, enum check_step step, msec now) MUST_USE;
