/* /proc/PID/stat, and going through all processes. For the files of io/process* alone. */
#pragma once

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What we use of it (proc(5)). */
struct process_stat {
	char state;
	pid_t parent;
	unsigned int flags;
	uint64_t n_threads;
	uint64_t cpu_ticks; /* of its threads, and of its children that have ended */
	uint64_t memory_pages; /* resident */
	uint64_t start_time;
	/* Addresses; of the code 0 before a program has started and after it has ended, and 1 where
	 * we may not know. */
	uint64_t code_start, environment_start, environment_end;
};

/* PF_EXITING and PF_KTHREAD of include/linux/sched.h */
#define PROCESS_FLAG_EXITING 0x4
#define PROCESS_FLAG_KERNEL_THREAD 0x00200000

/* Reads the beginning of a small file and puts a NUL behind; -1 (errno) when it cannot be read. */
ssize_t process_stat_read_file(const char *path, char *buf, size_t size);

/* False when there is no such process. */
bool process_stat_read(pid_t pid, struct process_stat *ret_stat) MUST_USE;
/* A zombie that has other threads still is one whose main thread alone has ended. The others may
 * work on, or be on their way out with all files open, ports among them. */
bool process_stat_has_ended(const struct process_stat *stat);
/* Calls `fn` for every process that can be seen, until it says that it has seen enough. */
void process_stat_each(bool (*fn)(pid_t pid, void *data), void *data);
