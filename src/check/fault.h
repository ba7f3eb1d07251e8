/* The first fault of a check: its kind, and advice. */
#pragma once

#include "check/facts.h"

/* Sets the fault; later calls have no effect. The job whose log tells more is the one that the step
 * needs, until check_fault_set_job names another. */
void check_set_cause(struct check *check, enum check_fault_kind kind, enum check_step step,
		     const char *task, instant now, const char *format, ...) PRINTF_LIKE(6, 7);
void check_fault_set_job(struct check *check, enum check_job job);

const char *check_fault_word(enum check_fault_kind kind); /* "ServerDied" */
/* Advice about the fault: one or more sentences. */
const char *check_fault_advice(const struct check *check);
/* Whether the fault is only that something could not be found or reached, not a failure of what was
 * tested. */
bool check_fault_is_absence(const struct check *check);
