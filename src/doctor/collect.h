/* Collects the facts about this machine that doctor/doctor judges. Starts nothing, and leaves
 * nothing behind. */
#pragma once

#include "base/mem.h"
#include "doctor/doctor.h"

/* `state_folder` is where jobs are to be remembered; it need not exist. Texts live in the arena.
 * Asking for the address of this machine's name may take seconds where a name server is asked that
 * does not answer. */
void doctor_collect(const char *state_folder, struct arena *arena, struct doctor_facts *ret_facts);
