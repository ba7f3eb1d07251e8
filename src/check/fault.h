/* The first fault of a check: what kind of thing went wrong, and what to do about it. */
#pragma once

#include "check/facts.h"

/* Sets the fault; once there is one, nothing changes any more. The job whose log tells more is the
 * one that the step needs, until check_fault_set_job names another. */
void check_set_cause(struct check *check, enum check_fault_kind kind, enum check_step step,
		     const char *task, msec now, const char *format, ...) PRINTF_LIKE(6, 7);
void check_fault_set_job(struct check *check, enum check_job job);

const char *check_fault_word(enum check_fault_kind kind); /* "ServerDied" */
/* What to do about the fault: one sentence or more. */
const char *check_fault_advice(const struct check *check);
/* It is no failure of what was tried, but something could not be found or reached. */
bool check_fault_is_absence(const struct check *check);
