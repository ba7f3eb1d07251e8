/* Work that goes on in the background: a daemon, forked before anything was begun, whose parent
 * waits until it says that the work has started. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* In the daemon: tells the parent that the work has started, once; later calls do nothing. */
typedef void (*background_started_fn)(void *background);

/* The work. Its error reaches the parent unless the work has started. */
typedef int (*background_fn)(background_started_fn started, void *background, int *ret_exit_code,
			     struct err *err, void *data);

/* Forks; the child leaves the terminal, in a session of its own, does the work and ends with its
 * exit code. The working folder stays. Returns in the parent only: 0 when the work has started,
 * else its error. */
int background_run(background_fn fn, void *data, struct err *err) MUST_USE;
/* Nothing is read from or written to the terminal any more. */
void background_leave_terminal(void);
