/* The signals that ask a supervisor to end: INT, TERM, HUP and QUIT. */
#pragma once

#include "io/loop.h"

#define END_SIGNALS_COUNT 4

/* Zero it to begin. */
struct end_signals {
	struct loop *loop;
	struct loop_watch *watches[END_SIGNALS_COUNT];
};

/* Watches them on this loop from now on, and no longer on another; none is lost between the two. A
 * signal that was ignored when we began (nohup, `&` in a script) stays ignored. */
void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data);
/* Takes those that have come, while the loop does not run. */
void end_signals_take(const struct end_signals *signals);
void end_signals_done(struct end_signals *signals);
