/* Runs TensorFlow in its own process, with an outer process that explains its death: after an abort
 * or memory fault inside the library, that process cannot print anything. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/guard.h"
#include "io/stderr_capture.h"
#include "tensorflow/library.h"

struct library_page;

struct library_guard {
	struct guard guard; /* which of the two processes this is, and how the inner one ended */
	const char *who; /* "the server" */
	const char *library; /* path of the file */
	struct stderr_capture chatter; /* standard error output while loading */
	struct library_page *page; /* shared by both processes */
};

/* Forks as guard_fork does (call it when nothing else is running). Returns in both processes; in
 * the outer one after the inner has ended. The texts are borrowed. */
int library_guard_fork(struct library_guard *ret_guard, const char *who, const char *library,
		       struct err *err) MUST_USE;

/* Inner process: records its current activity, "loading TensorFlow". */
void library_guard_note(struct library_guard *guard, const char *doing);
/* Inner process: opens the library. TensorFlow prints a greeting in each process that loads it, at
 * any log level. It is shown only after a failure, or with `shows_log`. */
int library_guard_load(struct library_guard *guard, bool shows_log, struct library **ret_library,
		       struct err *err) MUST_USE;

/* Outer process: whether SIGTERM, SIGINT or SIGHUP ended the inner one, as requested. */
bool library_guard_was_asked_to_end(const struct library_guard *guard);
/* Outer process, after another signal ended the inner one: reports the activity that it
 * interrupted. SIGALRM, which the inner process may have set up, means that it hung. Returns
 * ERR_IO. */
int library_guard_explain(const struct library_guard *guard, struct err *err);
