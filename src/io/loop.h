/* The event loop: file descriptors, signals, one-shot timers. The only file that uses libevent,
 * except its HTTP server (http/server.h).
 *
 * Callbacks get the `void *` given at registration. A callback may free its own watch. */
#pragma once

#include "base/err.h"
#include "base/instant.h"

#include <sys/types.h>

struct event_base;
struct loop;
struct loop_watch; /* one registered descriptor, signal or timer */

typedef void (*loop_fn)(void *data);
typedef void (*loop_signal_fn)(int signal_number, void *data);

int loop_new(struct loop **ret_loop, struct err *err) MUST_USE;
/* Free all watches before; deferred calls that did not run are dropped. */
void loop_free(struct loop *loop);

/* Runs until loop_stop, which has an effect only while the loop is running. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Runs what is ready now, once, and returns without waiting. */
void loop_run_ready(struct loop *loop);

/* libevent's own base, for http/server.c alone. */
struct event_base *loop_base(struct loop *loop);

/* Milliseconds of the wall clock; and of a clock that never jumps, and advances while the machine
 * sleeps. */
msec loop_now(void);
instant loop_monotonic_now(void);
/* Wall clock minus monotonic clock: it changes only when the wall clock is set. */
msec loop_clock_offset(void);
int64_t loop_monotonic_microseconds(void); /* the monotonic clock, for measuring */
/* When this moment of the wall clock will come, unless that is set before. MSEC_NEVER: never. */
instant loop_instant_of(msec at);
instant loop_instant_after(msec duration); /* from now */
bool loop_has_come(instant moment);
/* A timeout for poll(2) without a loop: from now to `until`, 0 when that has passed, -1 for
 * INSTANT_NEVER. */
int loop_milliseconds_until(instant until);

/* Calls `fn` while the descriptor can be read (or written). Level triggered. The watch is enabled
 * at first. Free it before the descriptor is closed. A regular file is always ready. */
struct loop_watch *loop_watch_readable(struct loop *loop, int fd, loop_fn fn, void *data) MUST_USE;
struct loop_watch *loop_watch_writable(struct loop *loop, int fd, loop_fn fn, void *data) MUST_USE;
/* One watch for each signal. `fn` is called for each one that arrives; of SIGCHLD once for all that
 * arrived meanwhile. */
struct loop_watch *loop_watch_signal(struct loop *loop, int signal_number, loop_signal_fn fn,
				     void *data) MUST_USE;
/* For `fn` of a signal: the process that has sent it; 0: the kernel, or one that we cannot see. */
pid_t loop_signal_sender(void);
/* A timer that is not armed yet. */
struct loop_watch *loop_new_timer(struct loop *loop, loop_fn fn, void *data) MUST_USE;
/* Arms the timer (again). A past moment fires immediately; INSTANT_NEVER disarms. */
void loop_timer_arm(struct loop_watch *timer, instant at);
/* The same for a moment of the wall clock, and for a duration from now; MSEC_NEVER disarms. */
void loop_timer_arm_wall(struct loop_watch *timer, msec at);
void loop_timer_arm_after(struct loop_watch *timer, msec duration);
/* Calls `fn` once, soon, from the loop: calls deferred in one iteration run in the next. */
void loop_defer(struct loop *loop, loop_fn fn, void *data);

void loop_watch_enable(struct loop_watch *watch, bool is_enabled);
void loop_watch_free(struct loop_watch *watch); /* NULL is fine; the descriptor stays open */
