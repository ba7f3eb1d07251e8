/* The signals that ask a supervisor to end: SIGINT, SIGTERM, SIGHUP and SIGQUIT. */
#pragma once

#include "io/loop.h"

#include <stdbool.h>

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
