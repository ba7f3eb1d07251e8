/* A watch for each. Only one loop of a process can watch signals. */
#include "engine/end_signals.h"

#include "base/mem.h"
#include "io/file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MOST_HELD 8 /* that are raised again; nobody counts further */

struct end_signals_wait {
	int fd;
	struct loop_watch *watch;
	sigset_t before;
	loop_signal_fn fn;
	void *data;
	int held[MOST_HELD];
	size_t n_held;
};

static const int numbers[END_SIGNALS_COUNT] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data)
{
	struct sigaction action;
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	end_signals_take(signals);
	end_signals_done(signals);
	signals->loop = loop;
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			signals->watches[i] = loop_watch_signal(loop, numbers[i], fn, data);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void end_signals_take(const struct end_signals *signals)
{
	if (signals->loop)
		loop_run_ready(signals->loop);
}

static void on_held(void *data)
{
	struct end_signals_wait *wait = data;
	struct signalfd_siginfo came;

	if (read(wait->fd, &came, sizeof(came)) != sizeof(came))
		return;
	if (wait->n_held < MOST_HELD)
		wait->held[wait->n_held++] = (int) came.ssi_signo;
	wait->fn((int) came.ssi_signo, wait->data);
}

static sigset_t watched(const struct end_signals *signals)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++)
		if (signals->watches[i])
			sigaddset(&set, numbers[i]);
	return set;
}

/* Without a descriptor to be had, they come when the other loop is done. */
void end_signals_hold(struct end_signals *signals, struct loop *loop, loop_signal_fn fn, void *data)
{
	const sigset_t set = watched(signals);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return;
	struct end_signals_wait *wait = mem_new(sizeof(*wait));

	*wait = (struct end_signals_wait){.fd = fd, .fn = fn, .data = data};
	wait->watch = loop_watch_readable(loop, fd, on_held, wait);
	sigprocmask(SIG_BLOCK, &set, &wait->before);
	signals->wait = wait;
}

void end_signals_release(struct end_signals *signals)
{
	struct end_signals_wait *wait = TAKE(signals->wait);

	if (!wait)
		return;
	loop_watch_free(wait->watch);
	file_close(&wait->fd);
	sigprocmask(SIG_SETMASK, &wait->before, NULL);
	for (size_t i = 0; i < wait->n_held; i++)
		raise(wait->held[i]);
	free(wait);
}

void end_signals_done(struct end_signals *signals)
{
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++)
		loop_watch_free(TAKE(signals->watches[i]));
}
