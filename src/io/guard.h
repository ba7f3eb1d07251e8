/* Two processes that die together and take every descendant along.
 *
 * The caller forks once at its start. The outer process is a subreaper that only waits and hands
 * signals on; the inner one, a subreaper too, does the work and is the parent of all workers. If
 * the inner is killed, its descendants fall to the outer, which kills until waitid says ECHILD; if
 * the outer is killed, the inner notices and ends the job. A parent-death signal reaches direct
 * children only, and subreaping alone leaves grandchildren behind. Where the inner begins in a
 * group of its own (io/own_group.h), a later muster can end what both have left. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

#define GUARD_NAME "job-guard" /* of the outer process, as ps and pkill see it */

struct guard {
	bool is_inner; /* in the process that works */
	int outer_gone_fd; /* inner: readable (end of file) when the outer process is gone */
	int exit_code; /* outer: what the inner ended with; 128 + n when a signal killed it */
	bool was_lost; /* outer: the inner was killed or crashed; everything below it was ended */
};

/* Forks; call it before anything else, so that the outer process stays small. The inner one is in
 * the control group `group` (NULL: none, and none where that cannot be), which the outer one
 * removes at the end. Returns at once in the inner process, with an empty signal mask. In the outer
 * one it returns when the inner has ended and no descendant is left.
 *
 * TERM, INT, HUP, QUIT, USR1, USR2, CONT and TSTP that come to the outer are handed on, but for the
 * keys typed at the terminal (INT, QUIT, TSTP) as long as both are in one group, which they reach
 * by themselves. The outer has another name (GUARD_NAME), so that a kill by name does not meet
 * both. Some signals come twice (timeout(1) sends them to its child and to the group): only a
 * second INT may mean more than a first. A signal that was ignored at the start (nohup, `&` in a
 * script) is not handed on: the inner does well to leave it ignored. Ctrl-Z stops both processes,
 * fg lets both go on. */
int guard_fork(const char *group, struct guard *ret_guard, struct err *err) MUST_USE;

/* For the inner process: nobody is above it any more. */
bool guard_is_outer_gone(const struct guard *guard);

/* For the inner process whose descendants must not outlive it: a process group of its own, so that
 * a kill of the whole group (`kill -9 %1`, timeout -s KILL) meets the outer alone. A process
 * without descendants stays, so that a signal to the group is one to all of it. */
void guard_leave_group(void);
