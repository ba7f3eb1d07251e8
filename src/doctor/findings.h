/* The functions that evaluate parts of the facts, in the order of the report. Used by
 * doctor_evaluate. */
#pragma once

#include "doctor/doctor.h"

/* Adds a row; `fix` is copied, without "sudo" for the superuser, unless the state is DOCTOR_OK. */
void finding_add(struct doctor_report *report, const char *name, enum doctor_state state,
		 const char *fix, const char *format, ...) PRINTF_LIKE(5, 6);

/* Limits, memory, disk, devices, clock. */
void evaluate_machine(struct doctor_report *report);
