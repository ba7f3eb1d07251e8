/* Processes by the kernel's data: identity beyond the pid, children, marks in their environment. */
#pragma once

#include "base/text.h"

#include <sys/types.h>

/* Identifies one process for ever; a pid alone is reused. */
struct process_identity {
	pid_t pid;
	uint64_t start_time; /* clock ticks since boot, /proc/PID/stat field 22, in the initial time
				namespace */
	char boot_id[40]; /* /proc/sys/kernel/random/boot_id */
	uint64_t pid_space; /* inode of /proc/PID/ns/pid */
};

/* ERR_UNSUPPORTED, with what to do, if /proc is not mounted: then no process can be seen. */
int process_need_proc(struct err *err) MUST_USE;
/* From here on no core dump of this process is written, and no other process of the user can read
 * its memory. Its child processes are not affected once they have called exec. */
void process_hide_memory(void);
int process_identify(pid_t pid, struct process_identity *ret_identity, struct err *err) MUST_USE;
/* The pid, in this process's namespace, of that process while it is alive (a zombie is not, unless
 * it still has running threads), else 0. 0 for another boot, and for a pid of another namespace
 * that cannot be seen. */
pid_t process_find(const struct process_identity *identity);
/* Whether SIGKILL was sent to it: it executes no more of its code, although it may exist for a
 * while. False for a process that cannot be seen. */
bool process_is_being_killed(pid_t pid);
/* Whether a file is mapped into it whose path contains `part`. */
bool process_has_loaded(pid_t pid, const char *part);
/* Whether it has a handler for the signal. */
bool process_catches(pid_t pid, int number);
/* Whether this process ignores the signal, as after nohup. */
bool process_ignores(int signal_number);

/* Resources that processes have used. */
struct process_usage {
	msec cpu; /* of all their threads, and of children that have exited */
	int64_t memory; /* bytes, resident; shared memory counts for each process */
};
/* Adds the usage of one process; false when there is none. */
bool process_usage_add(pid_t pid, struct process_usage *usage);

/* Calls `fn` for each process whose parent is `parent`, also for zombies. Reads all of /proc,
 * because /proc/PID/task/TID/children is missing in kernels without CONFIG_PROC_CHILDREN. */
void process_each_child(pid_t parent, void (*fn)(pid_t pid, void *data), void *data);
/* Whether the process, or one of its descendants, is stopped by a signal (SIGSTOP, Ctrl-Z), until a
 * SIGCONT. */
bool process_is_stopped(pid_t pid);
#define PROCESS_NAME_SIZE 32
/* Its name (comm, proc(5)). False: it is gone, or we cannot see it. */
bool process_read_name(pid_t pid, char ret_name[PROCESS_NAME_SIZE]);
/* A process that has this socket open, by the socket's inode, and the name of its program; 0: none,
 * or its files may not be read, for example because it belongs to another user. */
pid_t process_of_socket(uint64_t inode, char program[PROCESS_NAME_SIZE]);
/* Calls `fn` for each process of this user whose initial environment contains exactly this
 * "NAME=VALUE" entry. */
void process_each_marked(const char *entry, void (*fn)(pid_t pid, void *data), void *data);
bool process_has_mark(pid_t pid, const char *entry);
/* Adds the initial environment, each entry followed by a NUL. ERR_NOT_FOUND: no such process;
 * ERR_REFUSED: it may not be read, for example because the program runs as another user. */
int process_add_environment(pid_t pid, struct text *text, struct err *err) MUST_USE;
/* The value of one variable of that environment, which the caller frees; NULL if it is not set or
 * may not be read. False when that is unknown at this moment, because the process is executing a
 * program or exiting: try again soon. */
bool process_read_variable(pid_t pid, const char *name, char **ret_value) MUST_USE;

/* Reads /proc/PID/stat, and enumerates all processes. For the files of io/process* alone. */

/* The fields that we use (proc(5)). */
struct process_stat {
	char state;
	pid_t parent;
	unsigned int flags;
	uint64_t n_threads;
	uint64_t cpu_ticks; /* of its threads, and of its children that have exited */
	uint64_t memory_pages; /* resident */
	uint64_t start_time;
	/* Addresses. That of the code is 0 before a program has started and after it has exited,
	 * and 1 if we may not know it. */
	uint64_t code_start, environment_start, environment_end;
};

/* PF_EXITING and PF_KTHREAD of include/linux/sched.h */
#define PROCESS_FLAG_EXITING 0x4
#define PROCESS_FLAG_KERNEL_THREAD 0x00200000

/* The text of /proc/PID/status, whole: with a line of all groups of the user, which may be
 * thousands. NULL: it cannot be read. Caller frees. */
char *process_stat_status(pid_t pid) MUST_USE;
/* Whether the text of a status file (proc(5)) has the signal in a mask: "\nSigCgt:". */
bool process_stat_has_signal(const char *status, const char *mask, int number);

/* False when there is no such process. */
bool process_stat_read(pid_t pid, struct process_stat *ret_stat) MUST_USE;
