/* TensorFlow's C API as this test program itself exports it: sessions with a cluster of the test's
 * making. Servers that are silent answer every call with DEADLINE_EXCEEDED, at once. */
#pragma once

#include "tensorflow/library.h"

#include <stdbool.h>
#include <stddef.h>

#define FAKE_TASKS 8
#define FAKE_DEVICES 3

struct fake_task {
	const char *job;
	int index;
	const char *address; /* "host:2222", where it is a master */
	bool is_silent;
	int n_answers; /* it falls silent after so many lists; 0: it does not */
	bool is_wrong; /* it cannot multiply */
	const char *devices[FAKE_DEVICES]; /* "CPU:0"; the first is always there */
};

struct fake_cluster {
	struct fake_task tasks[FAKE_TASKS];
	size_t n_tasks;
	size_t n_open; /* objects that are not deleted yet */
	size_t n_closed; /* sessions that the servers were told to forget */
	long operation_timeout, run_timeout; /* of the last session and the last run; ms */
};

extern struct fake_cluster fake_cluster;
/* Begins with an empty cluster. */
struct library fake_library(void);
/* A library without any function of TensorFlow. */
struct library fake_library_without_functions(void);
