/* Starts one child process in its own process group, and kills groups. Knows no job. */
#pragma once

#include "base/err.h"
#include "io/private_network.h"

#include <sys/resource.h>
#include <sys/types.h>

struct child_start {
	const char *program; /* path, or a name looked up in the PATH of `environment` */
	char *const *arguments; /* NULL-terminated, arguments[0] included */
	char *const *environment; /* NULL-terminated; nothing else is inherited */
	const char *working_dir; /* NULL: that of this process */
	int input_fd; /* becomes its stdin; 0: /dev/null */
	int output_fd; /* becomes its stdout and stderr */
	int error_fd; /* becomes its stderr; 0: output_fd */
	bool uses_terminal; /* keeps our stdin and our process group, so that it can ask the user; a
			       signal to its group then also reaches us */
	int nice; /* its niceness, if that is more than ours (setpriority(2)); 0: unchanged */
	rlim_t descriptor_limit; /* its soft limit on open files; 0: unchanged */
	const struct private_network *network; /* that it enters; NULL: it stays in ours */
};

/* Starts it with its own process group, parent-death signal SIGKILL, default signals and an empty
 * mask; it inherits no descriptor except 0, 1, 2. Returns when exec has succeeded or failed.
 * ERR_NOT_FOUND (program or directory), ERR_REFUSED (no permission to execute it, or not a
 * program), ERR_IO; the sentence names the program. */
int child_start(const struct child_start *start, pid_t *ret_pid, struct err *err) MUST_USE;

/* Replaces this process by a program: as execvpe(3), but with the search and the errors of
 * child_start. Uses only program, arguments and environment. Returns only when it fails. */
int child_exec(const struct child_start *start, struct err *err);

/* Forks a process that runs our code, and returns 0 in it; else its pid, or -1 and errno. In it all
 * signals are blocked, and it is killed when its parent exits. It must leave by _exit, so that
 * nothing of its parent is cleaned up twice. */
pid_t child_fork(void) MUST_USE;
/* Kills such a process, unless it has exited, and reaps it. */
void child_end(pid_t pid);

/* Checks that child_start would find the directory, and the program (seen from that directory),
 * with the same errors, without starting it. */
int child_check_folder(const struct child_start *start, struct err *err) MUST_USE;
int child_check_program(const struct child_start *start, struct err *err) MUST_USE;

/* How a child exited. */
struct child_exit {
	pid_t pid;
	int exit_code; /* -1: killed by a signal */
	int signal; /* 0: none */
};

/* Whether the rest of a child's group lives on, which the caller then ends by other means. */
typedef bool (*child_spares_fn)(const struct child_exit *child_exit, const void *data);

/* Reaps the next child that has exited, without waiting. Its whole group is killed first (`spares`
 * NULL: always), so that the group's number cannot have been reused. An adopted process that leads
 * its own session is reaped alone, since its children may be meant to continue. False when no child
 * has exited; *ret_has_children tells whether any child is left. */
bool child_reap(struct child_exit *ret_exit, bool *ret_has_children, child_spares_fn spares,
		const void *data);

/* Takes the next report of a child that was stopped by a signal (*ret_signal), or continued (0),
 * without waiting. False when there is none. */
bool child_next_stop(pid_t *ret_pid, int *ret_signal);

/* Sends a signal to the process group of a child not yet reaped. */
void child_signal_group(pid_t pid, int signal_number);

typedef void (*child_exit_fn)(const struct child_exit *child_exit, void *data);

/* Kills every child of this process, which has to be a subreaper, and every process that it adopts
 * through their deaths. Waits until none is left, except processes that it may not kill: programs
 * that run as another user. Calls `on_exit` for each reaped child; NULL is fine. */
void child_kill_all(child_exit_fn on_exit, void *data);
