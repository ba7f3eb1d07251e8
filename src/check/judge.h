/* Decides, only from the known facts, what a check wants now and what the result of a step is. */
#pragma once

#include "check/facts.h"

#include <stdbool.h>

/* Whether the job should run now: start it if it has not started, end it if not wanted. */
bool check_wants(const struct check *check, enum check_job job);
/* Whether a process reported a silence: look for paused processes before the jobs are ended. */
bool check_suspects(const struct check *check);
/* When to look again; INSTANT_NEVER: only after an event. */
instant check_wake_at(const struct check *check);
/* Whether the result is known and no job is running (except servers that stay after
 * --setup-only). */
bool check_is_over(const struct check *check);
/* The current step; CHECK_STEP_COUNT: none. */
enum check_step check_current_step(const struct check *check);

/* Returns passed, failed (then the check's fault is set) or still running. The end of servers ends
 * every step that needs them, and so does the step's time limit. */
enum check_state check_judge(struct check *check, enum check_step step, instant now) MUST_USE;
