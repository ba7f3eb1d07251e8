/* The stacks of a job's Python processes: parses faulthandler's output and formats it. Pure.
 *
 * A file of stacks belongs to one attempt of a replica. Each process in it begins with our own
 * line. Then follows faulthandler's output (CPython's Python/traceback.c), or why it is missing:
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

/* The stack of one thread, or why it cannot be shown. */
struct stack {
	const char *role; /* of the replica */
	int index;
	const char *process; /* "4711 python3 -u train.py"; NULL: all processes of the replica */
	const char *thread; /* "0x00007f0d"; NULL: the main thread */
	const char *obstacle; /* why the stack is missing; NULL: it exists */
	const char **frames; /* the innermost first: File "train.py", line 12 in main */
	size_t n_frames;
};

struct stacks {
	struct stack *list;
	size_t count;
	size_t capacity;
};
void stacks_done(struct stacks *stacks);

/* Append our own two kinds of lines. */
void stacks_add_process(struct text *text, int64_t pid, const char *command);
void stacks_add_obstacle(struct text *text, const char *obstacle);

/* Adds the stacks of a replica's file, which may be incomplete. Their texts are in the arena. */
void stacks_read(struct stacks *stacks, const char *text, const char *role, int index,
		 struct arena *arena);

/* Appends all stacks, equal ones as one: of main threads, or of all threads. */
void stacks_describe(const struct stacks *stacks, bool has_all_threads, struct text *text);

/* The stacks as an array, each separately: {"replica": "worker-0", "process": "4711 python3
 * train.py", "thread": "0x00007f0d", "obstacle": "…", "frames": ["…"]}, without NULL members.
 * Caller frees. */
struct json *stacks_to_json(const struct stacks *stacks, bool has_all_threads) MUST_USE;

/* Summarizes each distinct main thread in a line, at most `most` lines: "worker-0, worker-1:
 * barrier (distributed_c10d.py:3672), from train.py:12". In the arena. */
const char **stacks_summarize(const struct stacks *stacks, size_t most, struct arena *arena,
			      size_t *ret_count);

/* Appends the text of a file of stacks, made of the output of py-spy
 * (https://github.com/benfred/py-spy, `py-spy dump --json`, 0.4): our own lines, which begin with
 * "# " as in that file, and after each "# process …" an array of threads as py-spy prints it. */
void spied_stacks_add(struct text *text, const char *output);
