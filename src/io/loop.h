/* The event loop: file descriptors, signals, one-shot timers. The one door to libevent, but for its
 * HTTP server (http/server.h).
 *
 * Callbacks get the `void *` given at registration. A callback may free its own watch. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct loop;
struct loop_watch; /* one registered descriptor, signal or timer */

typedef void (*loop_fn)(void *data);
typedef void (*loop_signal_fn)(int signal_number, void *data);

int loop_new(struct loop **ret_loop, struct err *err) MUST_USE;
/* All watches must have been freed before; what was deferred and did not run is forgotten. */
void loop_free(struct loop *loop);

/* Runs until loop_stop, which counts only while it runs. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Runs what is ready now, one turn, and returns without waiting. */
void loop_run_ready(struct loop *loop);

/* libevent's own, for http/server.c alone. */
struct event_base *loop_base(struct loop *loop);

/* Milliseconds of the wall clock, and of a clock that never jumps and goes on while the machine
 * sleeps. */
msec loop_now(void);
msec loop_monotonic_now(void);
/* Of the wall clock to the monotonic one: it changes only when the wall clock is set. */
msec loop_clock_offset(void);
int64_t loop_monotonic_microseconds(void); /* of the same, for measuring */
/* For poll(2), where there is no loop: from now to `until`, 0 when that has passed, -1 for
 * MSEC_NEVER. */
int loop_milliseconds_until(msec until);

/* Calls `fn` while the descriptor can be read (or written). Level triggered. The watch begins
 * enabled. Free it before the descriptor is closed. A regular file is always ready. */
struct loop_watch *loop_watch_readable(struct loop *loop, int fd, loop_fn fn, void *data) MUST_USE;
struct loop_watch *loop_watch_writable(struct loop *loop, int fd, loop_fn fn, void *data) MUST_USE;
struct loop_watch *loop_watch_signal(struct loop *loop, int signal_number, loop_signal_fn fn,
				     void *data) MUST_USE;
/* A timer that is not armed yet. */
struct loop_watch *loop_new_timer(struct loop *loop, loop_fn fn, void *data) MUST_USE;
/* Arms (again) for a moment of the wall clock; a moment that has passed fires at once; MSEC_NEVER
 * disarms. */
void loop_timer_arm(struct loop_watch *timer, msec at);
/* The same for a moment of the monotonic clock. */
void loop_timer_arm_monotonic(struct loop_watch *timer, msec at);
/* Calls `fn` once, soon, from the loop: what was deferred in one turn runs in the next. */
void loop_defer(struct loop *loop, loop_fn fn, void *data);

void loop_watch_enable(struct loop_watch *watch, bool is_enabled);
void loop_watch_free(struct loop_watch *watch); /* NULL is fine; the descriptor stays open */
