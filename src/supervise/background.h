/* A supervisor as a process: its work in the foreground or in a daemon, and the signals that ask it
 * to end. The daemon is forked before anything starts, and its parent waits until the work has
 * started. */
#pragma once

#include "base/err.h"
#include "io/loop.h"

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

/* The signals that ask a supervisor to end: SIGINT, SIGTERM, SIGHUP and SIGQUIT. */

#define END_SIGNALS_COUNT 4

/* Zero it to begin. */
struct end_signals {
	struct loop *loop;
	struct loop_watch *watches[END_SIGNALS_COUNT];
	loop_signal_fn fn;
	void *data;
	bool leaves_keys; /* to the programs in the foreground of the terminal */
};

/* Watches the signals on this loop, and no longer on another; none is lost in between. A SIGHUP
 * that was ignored at our start (nohup) stays ignored. So do SIGINT and SIGQUIT of the terminal's
 * keys (`&` in a script), but not those that a process sends. */
void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data);
/* Handles the signals that have arrived, while the loop is not running. */
void end_signals_take(const struct end_signals *signals);
void end_signals_done(struct end_signals *signals);
