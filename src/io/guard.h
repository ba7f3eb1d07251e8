/* Two processes that die together and take every descendant along.
 *
 * The caller forks once at its start. The outer process is a subreaper that only waits and hands
 * signals on; the inner one, a subreaper too, does the work and is the parent of all workers. If
 * the inner is killed, its descendants fall to the outer, which kills until waitid says ECHILD; if
 * the outer is killed, the inner notices and ends the job. A parent-death signal reaches direct
 * children only, and subreaping alone leaves grandchildren behind. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

struct guard {
	bool is_inner; /* in the process that works */
	int outer_gone_fd; /* inner: readable (end of file) when the outer process is gone */
	int exit_code; /* outer: what the inner ended with; 128 + n when it was killed by signal n
			*/
	bool was_lost; /* outer: the inner was killed or crashed; everything below it was ended */
};

/* Forks. Returns at once in the inner process. In the outer one it returns when the inner has ended
 * and no descendant is left; TERM, INT, HUP, QUIT, USR1 sent to the outer by a process (not typed
 * at the terminal, which reaches both) are handed on. */
int guard_fork(struct guard *ret_guard, struct err *err) MUST_USE;
