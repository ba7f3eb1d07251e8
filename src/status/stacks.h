/* Where the Python processes of a job are: what faulthandler wrote when it was asked, and how
 * people are shown it. Pure.
 *
 * A file of stacks belongs to one attempt of a replica. Each process in it begins with a line of
 * ours; what follows is faulthandler's (CPython's Python/traceback.c), or says why it is missing:
 *
 *     # process 4711 python3 -u train.py
 *     Thread 0x00007f0d (most recent call first):
 *       File "/usr/lib/python3.11/threading.py", line 327 in wait
 *
 *     Current thread 0x00007f0c (most recent call first):
 *       File "train.py", line 12 in main
 *     # process 4712 sleep 100
 *     # not a Python process */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Of one thread, or of one that cannot be shown. */
struct stack {
	const char *role; /* of the replica */
	int index;
	const char *process; /* "4711 python3 -u train.py"; NULL: of all of the replica */
	const char *thread; /* "0x00007f0d"; NULL: the main thread */
	const char *obstacle; /* why it is missing; NULL: it is there */
	const char **frames; /* the innermost first: File "train.py", line 12 in main */
	size_t n_frames;
};

struct stacks {
	struct stack *list;
	size_t count;
	size_t capacity;
};
void stacks_done(struct stacks *stacks);

/* Adds the two kinds of lines that are ours. */
void stacks_add_process(struct text *text, int64_t pid, const char *command);
void stacks_add_obstacle(struct text *text, const char *obstacle);

/* Adds those of one replica's file, whose text need not be whole. What they point to lives in the
 * arena. */
void stacks_read(struct stacks *stacks, const char *text, const char *role, int index,
		 struct arena *arena);

/* Adds all of them, those that are alike as one: of main threads, or of all threads. */
void stacks_describe(const struct stacks *stacks, bool has_all_threads, struct text *text);

/* The same as an array, each by itself: {"replica": "worker-0", "process": "4711 python3 train.py",
 * "thread": "0x00007f0d", "obstacle": "…", "frames": ["…"]}, without what is NULL. Caller frees. */
struct json *stacks_to_json(const struct stacks *stacks, bool has_all_threads) MUST_USE;

/* The same in a line for each main thread that is not like another before it, `most` lines at most:
 * "worker-0, worker-1: barrier (distributed_c10d.py:3672), from train.py:12". In the arena. */
const char **stacks_summarize(const struct stacks *stacks, size_t most, struct arena *arena,
			      size_t *ret_count);
