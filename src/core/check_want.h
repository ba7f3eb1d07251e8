/* What a check wants now: decided by what is known, and by nothing else. */
#pragma once

#include "core/check_facts.h"

#include <stdbool.h>

/* The job should run now: start it when it has not begun, end it when it is not wanted. */
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
