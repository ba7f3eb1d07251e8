/* A program that is asked a question: it is started, what it prints is collected, and the caller
 * hears of its end. On the loop; nothing waits. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct program_call; /* one program under way */

struct program_answer {
	const char *bytes; /* of its stdout, a NUL behind; may be secret: overwritten afterwards */
	size_t len;
	int exit_code; /* 0 also where somebody else of this process reaped it; -1: a signal */
	int signal;
};

/* `answer` is NULL when there is none, and `err` says why: ERR_UNREACHABLE it took too long,
 * ERR_LIMIT it printed too much. The call is gone afterwards. */
typedef void (*program_done_fn)(const struct program_answer *answer, const struct err *err,
				void *data);

struct program_question {
	const char *program; /* as child_start's */
	char *const *arguments;
	char *const *environment;
	bool uses_terminal; /* it may ask the person at our terminal; stdin is /dev/null else */
	size_t limit; /* bytes that it may print; what it writes to stderr goes to ours */
	msec time_limit;
	program_done_fn done;
	void *data;
};

/* Errors as child_start's; `done` is called from the loop, once, when it succeeds. */
int program_call_new(struct loop *loop, const struct program_question *question,
		     struct program_call **ret_call, struct err *err) MUST_USE;
/* Kills the program, without `done`. NULL is fine. */
void program_call_cancel(struct program_call *call);
