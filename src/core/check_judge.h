/* What a step of a check has come to, by the facts alone. For the files of core/check* alone. */
#pragma once

#include "core/check_facts.h"

/* Passed, failed (then the check's fault is set) or still running. Servers that end are the end of
 * every step that needs them, and so is the time of a step. */
enum check_state check_judge(struct check *check, enum check_step step, msec now) MUST_USE;
