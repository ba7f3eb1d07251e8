/* The parts in which facts are judged, in the order of the report. Used by doctor_judge. */
#pragma once

#include "doctor/doctor.h"

/* One judgement on its way. */
struct judgement {
	const struct doctor_facts *facts;
	struct arena *arena;
	struct doctor_report *report;
};

/* Adds a row; `fix` is copied, without "sudo" for the superuser, and NULL where there is nothing
 * to fix. */
void judgement_add(struct judgement *judgement, const char *name, enum doctor_state state,
		   const char *fix, const char *format, ...) PRINTF_LIKE(5, 6);

/* Python, TensorFlow and its packages. */
void judge_software(struct judgement *judgement);
/* Limits, memory, disk, devices, clock. */
void judge_machine(struct judgement *judgement);
