/* Runs a program on the loop: starts it, collects its output, and calls back when it has exited.
 * Nothing waits. */
#pragma once

#include "base/text.h"
#include "io/loop.h"

struct program_call; /* one running program */

struct program_answer {
	const char *bytes; /* of its stdout, followed by a NUL; may be secret: overwritten after the
			      callback */
	size_t len;
	int exit_code; /* 0 also if other code of this process reaped it; -1: killed by a signal */
	int signal;
};

/* `answer` is NULL if there is none; then `err` says why: ERR_UNREACHABLE: it took too long,
 * ERR_LIMIT: it printed too much. The call is freed afterwards. */
typedef void (*program_done_fn)(const struct program_answer *answer, const struct err *err,
				void *data);

struct program_question {
	const char *program; /* these three as in child_start */
	char *const *arguments;
	char *const *environment;
	bool uses_terminal; /* it may ask the user at our terminal; otherwise stdin is /dev/null */
	size_t limit; /* of its output in bytes; its stderr goes to ours */
	msec time_limit;
	program_done_fn done;
	void *data;
};

/* Errors as child_start's. On success `done` is called once, from the loop. */
int program_call_new(struct loop *loop, const struct program_question *question,
		     struct program_call **ret_call, struct err *err) MUST_USE;
/* Runs it without a loop of the caller, and appends its output. `done` and `data` are not used.
 * Also ERR_INVALID: it failed, or was killed. */
int program_call_wait(const struct program_question *question, struct text *output,
		      struct err *err) MUST_USE;
/* Kills the program, without calling `done`. NULL is fine. */
void program_call_cancel(struct program_call *call);
