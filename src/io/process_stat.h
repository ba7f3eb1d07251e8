/* Reads /proc/PID/stat, and enumerates all processes. For the files of io/process* alone. */
#pragma once

#include "base/own.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Reads the beginning of a small file and appends a NUL; -1 (errno) when it cannot be read. */
ssize_t process_stat_read_file(const char *path, char *buf, size_t size);

/* The text of /proc/PID/status, whole: with a line of all groups of the user, which may be
 * thousands. NULL: it cannot be read. Caller frees. */
char *process_stat_status(pid_t pid) MUST_USE;
/* Whether the text of a status file (proc(5)) has the signal in a mask: "\nSigCgt:". */
bool process_stat_has_signal(const char *status, const char *mask, int number);

/* False when there is no such process. */
bool process_stat_read(pid_t pid, struct process_stat *ret_stat) MUST_USE;
/* Whether it is a zombie without other threads. If only the main thread of a process has exited, it
 * is a zombie with other threads: they may be running, or exiting with all files and ports still
 * open. */
bool process_stat_has_ended(const struct process_stat *stat);
/* The next process in /proc, which the caller has opened; 0: all were seen, or `proc` is NULL. */
pid_t process_stat_next(DIR *proc);
