/* The outer process only waits; its data are on its stack. Its signals stay blocked and are taken
 * one by one, so that there is no handler and no race. */
#include "io/guard.h"

#include "base/exit_code.h"
#include "base/text.h"
#include "io/child.h"
#include "io/own_group.h"
#include "io/process.h"
#include "io/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE_OF_NAME 16 /* PR_GET_NAME, prctl(2) */

static const int handed_on[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
				SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

/* Of SIGINT and SIGQUIT, the inner distinguishes those of the terminal from others. */
static void choose_signals(sigset_t *ret_awaited)
{
	sigemptyset(ret_awaited);
	sigaddset(ret_awaited, SIGCHLD);
	for (size_t i = 0; i < ARRAY_LEN(handed_on); i++)
		if (!process_ignores(handed_on[i]) || handed_on[i] == SIGINT ||
		    handed_on[i] == SIGQUIT)
			sigaddset(ret_awaited, handed_on[i]);
}

/* The terminal sends its keys to the whole foreground group, which may include the inner. It sends
 * SIGHUP only to the leader of the session, which may be us. */
static bool reaches_inner_by_itself(const siginfo_t *signal_info, pid_t inner)
{
	int number = signal_info->si_signo;

	return signal_info->si_code > 0 &&
	       (number == SIGINT || number == SIGQUIT || number == SIGTSTP) &&
	       getpgid(inner) == getpgrp();
}

/* The shell of a batch script gets signals alone. */
bool guard_was_sent_to_all(pid_t sender)
{
	char name[PROCESS_NAME_SIZE] = "";

	return getenv("SLURM_STEP_ID") && process_read_name(sender, name) &&
	       text_equals(name, "slurmstepd");
}

/* With its sender, for loop_signal_sender. */
static void hand_on(const siginfo_t *signal_info, pid_t inner)
{
	pid_t sender = signal_info->si_code > 0 ? 0 : signal_info->si_pid;

	if (guard_was_sent_to_all(sender))
		return;
	if (sigqueue(inner, signal_info->si_signo, (union sigval){.sival_int = sender}) < 0)
		kill(inner, signal_info->si_signo);
}

static bool has_ended(pid_t pid, siginfo_t *ret_ended)
{
	ret_ended->si_pid = 0;
	return waitid(P_PID, (id_t) pid, ret_ended, WEXITED | WNOHANG) == 0 &&
	       ret_ended->si_pid == pid;
}

/* While the inner is alive it adopts every descendant, so there is no other child to reap. */
static void supervise_inner_process(pid_t inner, const char *group, const sigset_t *awaited,
				    struct guard *ret_guard)
{
	siginfo_t ended;

	while (!has_ended(inner, &ended)) {
		siginfo_t signal_info;

		if (sigwaitinfo(awaited, &signal_info) <= 0 || signal_info.si_signo == SIGCHLD)
			continue;
		if (!reaches_inner_by_itself(&signal_info, inner))
			hand_on(&signal_info, inner);
		/* The shell takes the terminal back only when the process that it started has
		 * stopped. */
		if (signal_info.si_signo == SIGTSTP)
			raise(SIGSTOP);
	}
	child_kill_all(NULL, NULL);
	if (group)
		own_group_end(group);
	bool was_lost = ended.si_code != CLD_EXITED;

	*ret_guard = (struct guard){
		.outer_gone_fd = -1,
		.exit_code = was_lost ? EXIT_BY_SIGNAL + ended.si_status : ended.si_status,
		.was_lost = was_lost,
	};
}

/* Turns off the parent-death signal SIGCONT. It would cancel the SIGSTOP with which other programs
 * attach to a process, as LeakSanitizer does at the exit of a program, and then waits for ever.
 * When the inner exits, it needs no wake-up. */
static void forgo_wake_up(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
}

/* The outer's exit closes a pipe that it alone holds open, whenever that happens. In addition, the
 * parent-death signal wakes an inner process that was stopped (Ctrl-Z, then kill -9). */
static void become_inner(int outer_gone_fd, struct guard *ret_guard)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGCONT);
	atexit(forgo_wake_up);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	*ret_guard = (struct guard){.is_inner = true, .outer_gone_fd = outer_gone_fd};
}

bool guard_is_outer_gone(const struct guard *guard)
{
	struct pollfd gone = {.fd = guard->outer_gone_fd, .events = POLLIN};

	return poll(&gone, 1, 0) > 0;
}

int guard_fork(const char *group, struct guard *ret_guard, struct err *err)
{
	int gone[2];
	sigset_t all, before, awaited;
	char name[SIZE_OF_NAME] = "";

	if (pipe2(gone, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* A process that ignores SIGCHLD gets no report of an exit, and it may have inherited
	 * that. */
	signal(SIGCHLD, SIG_DFL);
	choose_signals(&awaited);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	/* `pkill NAME` and `killall NAME` kill all processes of one name, at any moment. */
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, GUARD_NAME);
	pid_t inner = group ? own_group_fork(group) : -1;

	if (inner < 0)
		inner = fork();
	if (inner <= 0)
		prctl(PR_SET_NAME, name);
	if (inner < 0) {
		int fork_errno = errno;

		sigprocmask(SIG_SETMASK, &before, NULL);
		close(gone[0]);
		close(gone[1]);
		return err_set_errno(err, fork_errno, "cannot start muster's second process");
	}
	if (inner == 0) {
		close(gone[1]);
		become_inner(gone[0], ret_guard);
		return 0;
	}
	close(gone[0]);
	supervise_inner_process(inner, group, &awaited, ret_guard);
	return 0;
}

/* In the new group we are in the background of the terminal, which may stop processes that
 * write. */
void guard_leave_group(void)
{
	terminal_keep_group();
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
}
