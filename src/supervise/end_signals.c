/* One watch per signal. */
#include "supervise/end_signals.h"

#include "base/own.h"
#include "io/process.h"

#include <signal.h>

static const int numbers[END_SIGNALS_COUNT] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool is_of_keys(int number)
{
	return number == SIGINT || number == SIGQUIT;
}

static void on_end_signal(int number, void *data)
{
	const struct end_signals *signals = data;

	if (!signals->leaves_keys || !is_of_keys(number) || loop_signal_sender())
		signals->fn(number, signals->data);
}

void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	end_signals_take(signals);
	end_signals_done(signals);
	signals->loop = loop;
	signals->fn = fn;
	signals->data = data;
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++) {
		bool is_ignored = process_ignores(numbers[i]);

		signals->leaves_keys |= is_ignored && is_of_keys(numbers[i]);
		if (!is_ignored || is_of_keys(numbers[i]))
			signals->watches[i] =
				loop_watch_signal(loop, numbers[i], on_end_signal, signals);
	}
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
