/* The signals that ask a supervisor to end: SIGINT, SIGTERM, SIGHUP and SIGQUIT. */
#pragma once

#include "io/loop.h"

#define END_SIGNALS_COUNT 4

/* Zero it to begin. */
struct end_signals {
	struct loop *loop;
	struct loop_watch *watches[END_SIGNALS_COUNT];
};

/* Watches the signals on this loop, and no longer on another; none is lost in between. A signal
 * that was ignored at our start (nohup, `&` in a script) stays ignored. */
void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data);
/* Handles the signals that have arrived, while the loop is not running. */
void end_signals_take(const struct end_signals *signals);
void end_signals_done(struct end_signals *signals);
