/* A scope of systemd (systemd.scope(5)): a control group with limits, for this process and all that
 * it starts from now on. Where systemd runs, any user may have one; without it, and in a container,
 * there is none. */
#pragma once

#include "base/err.h"

struct own_scope {
	const char *name; /* part of its own: letters, digits, and "-", "_", "." */
	double memory; /* bytes; swap is not used then; 0: no limit */
	double cores; /* CPU time in each period, as that of so many cores; 0: no limit */
};

/* Moves this process into a new scope, from which it may create further control groups
 * (io/own_group.h). An error says why it stays where it is: ERR_UNSUPPORTED,
 * or one of program_call_wait. */
int own_scope_enter(const struct own_scope *scope, struct err *err) MUST_USE;
