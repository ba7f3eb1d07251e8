/* Collects the facts about this machine that doctor/doctor evaluates. Starts nothing, and leaves
 * nothing behind. */
#pragma once

#include "base/mem.h"
#include "doctor/doctor.h"

/* `state_folder` is the directory for job records; it need not exist. Texts live in the arena.
 * Looking up this machine's own name may take seconds if a name server does not respond. */
void doctor_collect(const char *state_folder, struct arena *arena, struct doctor_facts *ret_facts);
