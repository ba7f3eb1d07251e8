/* TensorFlow in a process of its own, and one beside it that explains its death: what aborts inside
 * a library, or dies of a memory fault there, cannot say anything any more. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/guard.h"
#include "io/stderr_capture.h"
#include "tensorflow/library.h"

#include <stdbool.h>

struct library_page;

struct library_guard {
	struct guard guard; /* which of the two we are, and how the inner one ended */
	const char *who; /* "the server" */
	const char *library; /* path of the file */
	struct stderr_capture chatter; /* what was said on standard error while loading */
	struct library_page *page; /* what both processes see */
};

/* Forks as guard_fork does (call it with nothing else going on), and returns in both processes; in
 * the outer one when the inner has ended. The texts are borrowed. */
int library_guard_fork(struct library_guard *ret_guard, const char *who, const char *library,
		       struct err *err) MUST_USE;

/* Inner process: what it is busy with from now on, "loading TensorFlow". */
void library_guard_note(struct library_guard *guard, const char *doing);
/* Inner process: opens the library. TensorFlow greets each process that loads it, at any log level:
 * it is heard out only when that fails, or when `shows_log`. */
int library_guard_load(struct library_guard *guard, bool shows_log, struct library **ret_library,
		       struct err *err) MUST_USE;

/* Outer process: TERM, INT or HUP ended the inner one, as somebody wanted. */
bool library_guard_was_asked_to_end(const struct library_guard *guard);
/* Outer process, when another signal ended the inner one: says while doing what. SIGALRM, which the
 * inner process may have asked for, means that it hung. Returns ERR_IO. */
int library_guard_explain(const struct library_guard *guard, struct err *err);
