/* Processes as the kernel tells of them: identity beyond the pid, children, marks in their
 * environment. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Names one process for ever: a pid alone is used again. */
struct process_identity {
	pid_t pid;
	uint64_t start_time; /* clock ticks since boot, /proc/PID/stat field 22 */
	char boot_id[40]; /* /proc/sys/kernel/random/boot_id */
	uint64_t pid_space; /* inode of /proc/PID/ns/pid */
};

/* ERR_UNSUPPORTED, with what to do, where /proc is not mounted: no process can be seen then. */
int process_need_proc(struct err *err) MUST_USE;
int process_identify(pid_t pid, struct process_identity *ret_identity, struct err *err) MUST_USE;
/* True while that very process lives (a zombie does not, unless threads of it still do). False for
 * another boot; a pid of another namespace counts as alive only when it can be seen. */
bool process_is_alive(const struct process_identity *identity);
/* SIGKILL was sent to it: it does nothing of its own any more, although it may be there for a while
 * yet. False of a process that cannot be seen. */
bool process_is_being_killed(pid_t pid);

/* What processes have used. */
struct process_usage {
	msec cpu; /* of all their threads, and of children that have ended */
	int64_t memory; /* bytes, resident; what several have in common counts for each */
};
/* Adds that of one process; false when there is none. */
bool process_usage_add(pid_t pid, struct process_usage *usage);

/* Calls `fn` for each process whose parent is `parent`, also for one that has ended and is not
 * reaped yet. All of /proc is read: /proc/PID/task/TID/children is missing in kernels without
 * CONFIG_PROC_CHILDREN. */
void process_each_child(pid_t parent, void (*fn)(pid_t pid, void *data), void *data);
/* The process, or one of its descendants, is stopped (SIGSTOP, Ctrl-Z): it does nothing until
 * somebody sends SIGCONT. */
bool process_is_stopped(pid_t pid);
/* Calls `fn` for each process of this user whose environment, as its program began with it, holds
 * exactly this "NAME=VALUE" entry. */
void process_each_marked(const char *entry, void (*fn)(pid_t pid, void *data), void *data);
bool process_has_mark(pid_t pid, const char *entry);
/* Adds that environment, each entry with a NUL behind. ERR_NOT_FOUND: no such process; ERR_REFUSED:
 * it may not be read, as that of a program which runs as another user. */
int process_add_environment(pid_t pid, struct text *text, struct err *err) MUST_USE;
/* The value of one variable of that environment, which the caller frees; NULL where it has none or
 * may not be read. False when nothing can be said at this moment, because the process is just
 * beginning a program or ending: ask again soon. */
bool process_read_variable(pid_t pid, const char *name, char **ret_value) MUST_USE;
