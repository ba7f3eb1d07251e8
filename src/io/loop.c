/* The event loop, on libevent's core. Apart from this file, only http/server.c includes libevent.
 *
 * Nothing in it wakes the process periodically: without an armed timer, the loop sleeps in the
 * kernel until a descriptor is ready or a signal arrives. */
#include "io/loop.h"

#include "base/mem.h"
#include "io/file.h"

#include <event2/event.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#define NSEC_PER_MSEC 1000000
#define NSEC_PER_USEC 1000
#define USEC_PER_SECOND 1000000

struct deferred {
	loop_fn fn;
	void *data;
};

struct loop {
	struct event_base *base;
	struct event *deferred_event;
	struct deferred *deferred;
	size_t n_deferred;
	size_t deferred_capacity;
	int signal_fds[2]; /* a pipe from the handler of signals; -1 before the first watch */
	struct event *signal_event;
};

struct loop_watch {
	struct event *event;
	const struct timeval *interval; /* of a descriptor that cannot be polled; else NULL */
	loop_fn fn;
	loop_signal_fn signal_fn; /* NULL: of no signal */
	int signal_number;
	void *data;
	instant due; /* of a timer */
};

static const struct timeval at_once = {0, 0};

/* libevent prints failures on stderr in addition to returning them. */
static void drop_message(int severity, const char *message)
{
	(void) severity;
	(void) message;
}

static struct event_base *new_base(void)
{
	struct event_config *config = event_config_new();

	if (!config)
		return NULL;
	/* One thread, no EVENT_* variables of the user. The kernel's coarse clock is enough,
	 * because a timer reads the fine one before it fires. */
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
	struct event_base *base = event_base_new_with_config(config);

	event_config_free(config);
	return base;
}

static void run_deferred(evutil_socket_t fd, short what, void *data)
{
	struct loop *loop = data;
	struct deferred *turn CLEANUP(mem_free_any) = TAKE(loop->deferred);
	size_t count = loop->n_deferred;

	(void) fd;
	(void) what;
	loop->n_deferred = loop->deferred_capacity = 0;
	for (size_t i = 0; i < count; i++)
		turn[i].fn(turn[i].data);
}

int loop_new(struct loop **ret_loop, struct err *err)
{
	event_set_log_callback(drop_message);
	struct event_base *base = new_base();

	if (!base)
		return err_set(err, ERR_IO, "cannot create an event loop (epoll)");
	struct loop *loop = mem_new(sizeof(*loop));

	loop->base = base;
	loop->signal_fds[0] = loop->signal_fds[1] = -1;
	loop->deferred_event = event_new(base, -1, 0, run_deferred, loop);
	*ret_loop = loop;
	return 0;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	event_free(loop->deferred_event);
	if (loop->signal_event)
		event_free(loop->signal_event);
	file_close(&loop->signal_fds[0]);
	file_close(&loop->signal_fds[1]);
	event_base_free(loop->base);
	free(loop->deferred);
	free(loop);
}

struct event_base *loop_base(struct loop *loop)
{
	return loop->base;
}

void loop_run(struct loop *loop)
{
	event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

void loop_stop(struct loop *loop)
{
	event_base_loopbreak(loop->base);
}

void loop_run_ready(struct loop *loop)
{
	event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

static msec clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (msec) now.tv_sec * MSEC_PER_SECOND + now.tv_nsec / NSEC_PER_MSEC;
}

msec loop_now(void)
{
	return clock_now(CLOCK_REALTIME);
}

instant loop_monotonic_now(void)
{
	return (instant){clock_now(CLOCK_BOOTTIME)};
}

msec loop_clock_offset(void)
{
	return loop_now() - loop_monotonic_now().since_boot;
}

instant loop_instant_of(msec at)
{
	msec now = loop_now();

	/* Both clocks were rounded down: one millisecond more, so that the moment has passed. */
	return loop_instant_after(at == MSEC_NEVER ? at : at - now + (at > now));
}

instant loop_instant_after(msec duration)
{
	return instant_add(loop_monotonic_now(), duration);
}

bool loop_has_come(instant moment)
{
	return instant_has_come(moment, loop_monotonic_now());
}

int64_t loop_monotonic_microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t) now.tv_sec * USEC_PER_SECOND + now.tv_nsec / NSEC_PER_USEC;
}

int loop_milliseconds_until(instant until)
{
	if (instant_is_never(until))
		return -1;
	msec left = instant_since(loop_monotonic_now(), until);

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int) left;
}

static struct loop_watch *new_watch(loop_fn fn, void *data)
{
	struct loop_watch *watch = mem_new(sizeof(*watch));

	watch->fn = fn;
	watch->data = data;
	return watch;
}

/* The callback may free the watch: nothing may use it afterwards. */
static void call_watch(evutil_socket_t fd, short what, void *data)
{
	struct loop_watch *watch = data;

	(void) fd;
	(void) what;
	watch->fn(watch->data);
}

static void call_and_come_again(evutil_socket_t fd, short what, void *data)
{
	struct loop_watch *watch = data;

	event_add(watch->event, watch->interval);
	call_watch(fd, what, watch);
}

static struct loop_watch *watch_fd(struct loop *loop, int fd, short what, loop_fn fn, void *data)
{
	struct loop_watch *watch = new_watch(fn, data);

	watch->event = event_new(loop->base, fd, what | EV_PERSIST, call_watch, watch);
	if (event_add(watch->event, NULL) == 0)
		return watch;
	/* Regular files and similar ones are always ready, and epoll rejects them (EPERM). So they
	 * are called in every iteration of the loop, which is what level-triggered readiness means
	 * for them. */
	event_free(watch->event);
	watch->event = event_new(loop->base, -1, 0, call_and_come_again, watch);
	watch->interval = &at_once;
	event_add(watch->event, watch->interval);
	return watch;
}

struct loop_watch *loop_watch_readable(struct loop *loop, int fd, loop_fn fn, void *data)
{
	return watch_fd(loop, fd, EV_READ, fn, data);
}

struct loop_watch *loop_watch_writable(struct loop *loop, int fd, loop_fn fn, void *data)
{
	return watch_fd(loop, fd, EV_WRITE, fn, data);
}

/* Signals, with the sender, which libevent does not tell. The handler writes into a pipe. */

struct arrived_signal {
	int number;
	pid_t sender;
};

static struct watched_signal {
	struct loop_watch *watch;
	struct sigaction before;
	volatile sig_atomic_t fd; /* the pipe of the loop that watches it */
	volatile sig_atomic_t has_arrived; /* and is in the pipe */
} watched_signals[NSIG];
static pid_t sender_of_signal;

pid_t loop_signal_sender(void)
{
	return sender_of_signal;
}

/* The outer process of a pair hands signals on with the sender (io/guard.c). */
static pid_t sender_of(const siginfo_t *signal_info)
{
	if (signal_info->si_code == SI_QUEUE && signal_info->si_pid == getppid())
		return signal_info->si_value.sival_int;
	return signal_info->si_code > 0 ? 0 : signal_info->si_pid;
}

static void write_arrived_signal(int number, siginfo_t *signal_info, void *context)
{
	const struct arrived_signal arrived = {number, sender_of(signal_info)};
	int before = errno;

	(void) context;
	/* Of exits, one record is enough, whatever their number; a second SIGINT means more than a
	 * first. */
	if (number == SIGCHLD && watched_signals[number].has_arrived)
		return;
	watched_signals[number].has_arrived = true;
	(void) !write((int) watched_signals[number].fd, &arrived, sizeof(arrived));
	errno = before;
}

static void call_signal_watches(evutil_socket_t fd, short what, void *data)
{
	struct arrived_signal arrived;

	(void) what;
	(void) data;
	while (read(fd, &arrived, sizeof(arrived)) == (ssize_t) sizeof(arrived)) {
		struct loop_watch *watch = watched_signals[arrived.number].watch;

		watched_signals[arrived.number].has_arrived = false;
		sender_of_signal = arrived.sender;
		if (watch)
			watch->signal_fn(arrived.number, watch->data);
	}
}

struct loop_watch *loop_watch_signal(struct loop *loop, int signal_number, loop_signal_fn fn,
				     void *data)
{
	struct loop_watch *watch = new_watch(NULL, data);
	struct sigaction action = {.sa_sigaction = write_arrived_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	if (!loop->signal_event && pipe2(loop->signal_fds, O_CLOEXEC | O_NONBLOCK) == 0) {
		loop->signal_event = event_new(loop->base, loop->signal_fds[0],
					       EV_READ | EV_PERSIST, call_signal_watches, NULL);
		event_add(loop->signal_event, NULL);
	}
	watch->signal_fn = fn;
	watch->signal_number = signal_number;
	watched_signals[signal_number] =
		(struct watched_signal){.watch = watch, .fd = loop->signal_fds[1]};
	sigfillset(&action.sa_mask);
	sigaction(signal_number, &action, &watched_signals[signal_number].before);
	return watch;
}

static void sleep_until_due(struct loop_watch *timer, instant now)
{
	msec left = msec_max(instant_since(now, timer->due), 0);
	const struct timeval delay = {
		.tv_sec = (time_t) (left / MSEC_PER_SECOND),
		.tv_usec = (suseconds_t) (left % MSEC_PER_SECOND * 1000),
	};

	event_add(timer->event, &delay);
}

/* The coarse clock may be some milliseconds behind when a timer is armed, so it may fire early. */
static void call_timer(evutil_socket_t fd, short what, void *data)
{
	struct loop_watch *timer = data;
	instant now = loop_monotonic_now();

	(void) fd;
	(void) what;
	if (instant_has_come(timer->due, now))
		timer->fn(timer->data);
	else
		sleep_until_due(timer, now);
}

struct loop_watch *loop_new_timer(struct loop *loop, loop_fn fn, void *data)
{
	struct loop_watch *timer = new_watch(fn, data);

	timer->event = event_new(loop->base, -1, 0, call_timer, timer);
	return timer;
}

void loop_timer_arm(struct loop_watch *timer, instant at)
{
	if (instant_is_never(at)) {
		event_del(timer->event);
		return;
	}
	timer->due = at;
	sleep_until_due(timer, loop_monotonic_now());
}

void loop_timer_arm_wall(struct loop_watch *timer, msec at)
{
	loop_timer_arm(timer, loop_instant_of(at));
}

void loop_timer_arm_after(struct loop_watch *timer, msec duration)
{
	loop_timer_arm(timer, loop_instant_after(duration));
}

/* A timer without delay fires in the next iteration, after the descriptors were checked: a callback
 * that always defers itself starves no other. */
void loop_defer(struct loop *loop, loop_fn fn, void *data)
{
	mem_grow(&loop->deferred, &loop->deferred_capacity, loop->n_deferred,
		 sizeof(*loop->deferred));
	loop->deferred[loop->n_deferred++] = (struct deferred){fn, data};
	if (loop->n_deferred == 1)
		event_add(loop->deferred_event, &at_once);
}

void loop_watch_enable(struct loop_watch *watch, bool is_enabled)
{
	if (is_enabled)
		event_add(watch->event, watch->interval);
	else
		event_del(watch->event);
}

void loop_watch_free(struct loop_watch *watch)
{
	if (!watch)
		return;
	if (watch->signal_fn) {
		struct watched_signal *watched = &watched_signals[watch->signal_number];

		sigaction(watch->signal_number, &watched->before, NULL);
		watched->watch = NULL;
	} else {
		event_free(watch->event);
	}
	free(watch);
}
