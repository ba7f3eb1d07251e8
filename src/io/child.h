/* Starts one child process in a group of its own, and ends groups. Knows no job. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/private_network.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child_start {
	const char *program; /* path, or a name looked up in the PATH of `environment` */
	char *const *arguments; /* NULL-terminated, arguments[0] included */
	char *const *environment; /* NULL-terminated, the whole of it */
	const char *working_dir; /* NULL: ours */
	int input_fd; /* becomes its stdin; 0: /dev/null does */
	int output_fd; /* becomes its stdout and stderr */
	int error_fd; /* becomes its stderr; 0: output_fd does */
	bool uses_terminal; /* keeps our stdin and our group, so that it can ask the person there;
			       a signal to its group is none for it alone then */
	rlim_t descriptor_limit; /* its soft limit on open files; 0: ours */
	const struct private_network *network; /* that it goes into; NULL: it stays in ours */
};

/* Starts it: own process group, parent-death signal KILL, default signals and empty mask, nothing
 * inherited but 0, 1, 2. Returns when exec has succeeded or failed: ERR_NOT_FOUND (program or
 * folder), ERR_REFUSED (no right to run it, or no program), ERR_IO; the sentence names the program.
 */
int child_start(const struct child_start *start, pid_t *ret_pid, struct err *err) MUST_USE;

/* Forks a process that goes on with our code, and gives 0 there; else its pid, or -1 and errno. It
 * hears no signals and ends with its parent. Nothing of its parent is to be ended twice: it leaves
 * by _exit. */
pid_t child_fork(void) MUST_USE;
/* Kills such a process, unless it has ended, and reaps it. */
void child_end(pid_t pid);

/* Look whether child_start would find the folder, and the program (seen from that folder), with the
 * same errors, and start nothing. */
int child_check_folder(const struct child_start *start, struct err *err) MUST_USE;
int child_check_program(const struct child_start *start, struct err *err) MUST_USE;

/* How a child ended. */
struct child_exit {
	pid_t pid;
	int exit_code; /* -1: by a signal */
	int signal; /* 0: none */
	bool dumped_core;
};

/* Takes the next child that has ended, without waiting. Before it is reaped its whole group is
 * killed, so that the group's number cannot have been used again; an adopted process that leads a
 * session of its own is reaped alone, since what it left behind may be meant to go on. False when
 * there is none now; *ret_has_children tells whether any child is left at all. */
bool child_reap(struct child_exit *ret_exit, bool *ret_has_children);

/* Takes the next news of a child that was stopped by a signal (*ret_signal), or goes on again (0),
 * without waiting. False when there is none now. */
bool child_next_stop(pid_t *ret_pid, int *ret_signal);

/* Sends a signal to the group of a child not yet reaped. */
void child_signal_group(pid_t pid, int signal_number);

typedef void (*child_exit_fn)(const struct child_exit *child_exit, void *data);

/* Kills every child of this process, which has to be a subreaper, and whatever falls to it through
 * their deaths, and waits until nothing is left (or only what we may not kill: programs that run as
 * another user). `on_exit` hears of each one reaped; NULL is fine. */
void child_kill_all(child_exit_fn on_exit, void *data);
