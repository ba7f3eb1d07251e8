/* Work that is done here or goes on in the background: in a daemon, forked before anything was
 * started, whose parent waits until it says that the work has started. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* In the daemon: tells the parent that the work has started, once; later calls do nothing. */
typedef void (*background_started_fn)(void *background);

/* The work. Here nobody waits for it to start: `started` is NULL. In the daemon its error reaches
 * the parent unless the work has started. */
typedef int (*background_fn)(background_started_fn started, void *background, int *ret_exit_code,
			     struct err *err, void *data);

/* Does the work; detached, forks first: the child leaves the terminal, in a session of its own, and
 * ends with the exit code of the work. The working folder stays. Returns in the parent only: 0,
 * also as the exit code, when the work has started, else its error. */
int background_run(bool is_detached, background_fn fn, void *data, int *ret_exit_code,
		   struct err *err) MUST_USE;
/* Nothing is read from or written to the terminal any more. */
void background_leave_terminal(void);
