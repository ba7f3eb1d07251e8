/* Runs work in the foreground or in a daemon. The daemon is forked before anything starts, and its
 * parent waits until the work has started. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* Called in the daemon: notifies the parent that the work has started, once; later calls do
 * nothing. */
typedef void (*background_started_fn)(void *background);

/* The work. In the foreground no process waits for its start: `started` is NULL. In the daemon its
 * error reaches the parent unless the work has started. */
typedef int (*background_fn)(background_started_fn started, void *background, int *ret_exit_code,
			     struct err *err, void *data);

/* Does the work. If detached, it forks first: the child leaves the terminal, in its own session,
 * and exits with the exit code of the work. The working directory stays. Then it returns only in
 * the parent: 0, also as the exit code, when the work has started, else its error. */
int background_run(bool is_detached, background_fn fn, void *data, int *ret_exit_code,
		   struct err *err) MUST_USE;
/* Detaches this process from the terminal: nothing more is read from it or written to it. */
void background_leave_terminal(void);
