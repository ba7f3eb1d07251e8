/* One watch per signal. Only one loop of a process can watch signals. */
#include "supervise/end_signals.h"

#include "base/own.h"

#include <signal.h>

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

void end_signals_done(struct end_signals *signals)
{
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++)
		loop_watch_free(TAKE(signals->watches[i]));
}
