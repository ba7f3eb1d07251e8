/* Two processes that are killed together, with all their descendants.
 *
 * The caller forks once at its start. The outer process is a subreaper that only waits and forwards
 * signals. The inner one, a subreaper too, does the work and is the parent of all workers. If the
 * inner is killed, the outer adopts its descendants and kills until waitid returns ECHILD. If the
 * outer is killed, the inner notices and stops the job. A parent-death signal reaches only direct
 * children, and subreaping alone leaves grandchildren behind. If the inner starts in its own
 * control group (io/own_group.h), a later muster process can kill what both have left. */
#pragma once

#include "base/err.h"

#include <sys/types.h>

#define GUARD_NAME "job-guard" /* of the outer process, as ps and pkill show it */

struct guard {
	bool is_inner; /* in the process that does the work */
	int outer_gone_fd; /* inner: readable (end of file) when the outer process has exited */
	int exit_code; /* outer: the inner's exit code; 128 + n when a signal killed it */
	bool was_lost; /* outer: the inner was killed or crashed; all its descendants were killed */
};

/* Forks; call it before anything else, so that the outer process stays small. The inner process is
 * in the control group `group` (NULL: none; none either if the kernel cannot), which the outer one
 * removes at the end. In the inner process it returns immediately, with an empty signal mask. In
 * the outer one it returns when the inner has exited and no descendant is left.
 *
 * The outer forwards SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP and
 * SIGWINCH. Keys typed at the terminal (SIGINT, SIGQUIT, SIGTSTP) reach both by themselves while
 * both are in one process group, and are not forwarded; nor is what Slurm sends to both. The outer
 * has another name (GUARD_NAME), so that a kill by name does not hit both. Some signals arrive
 * twice (timeout(1) sends them to its child and to the group): only a second SIGINT may mean more
 * than a first. A signal that was ignored at the start (nohup, `&` in a script) is not forwarded;
 * the inner should leave it ignored. Ctrl-Z stops both processes, fg continues both. */
int guard_fork(const char *group, struct guard *ret_guard, struct err *err) MUST_USE;

/* Whether a signal has reached both processes and all descendants by itself: Slurm sends it to
 * every process of a step (seen with Slurm 22.05). */
bool guard_was_sent_to_all(pid_t sender);

/* Called in the inner process: whether the outer one has exited. */
bool guard_is_outer_gone(const struct guard *guard);

/* Called in an inner process whose descendants must not outlive it: moves it to its own process
 * group, so that a kill of the whole group (`kill -9 %1`, timeout -s KILL) hits the outer alone. A
 * process without descendants stays, so that a signal to the group reaches it. */
void guard_leave_group(void);
