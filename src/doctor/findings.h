/* The functions that evaluate parts of the facts, in the order of the report. Used by
 * doctor_evaluate. */
#pragma once

#include "doctor/doctor.h"

/* An evaluation in progress. */
struct evaluation {
	const struct doctor_facts *facts;
	struct arena *arena;
	struct doctor_report *report;
};

/* Adds a row; `fix` is copied, without "sudo" for the superuser, and NULL if there is nothing to
 * fix. */
void finding_add(struct evaluation *evaluation, const char *name, enum doctor_state state,
		 const char *fix, const char *format, ...) PRINTF_LIKE(5, 6);

/* Limits, memory, disk, devices, clock. */
void evaluate_machine(struct evaluation *evaluation);
