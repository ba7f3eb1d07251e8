#include "cli/launch_signals.h"

#include "base/mem.h"
#include "cli/rendezvous_endpoint.h"
#include "spec/limits.h"
#include "spec/stop_signal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_VARIABLE "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"
#define SIGNALS_VARIABLE "TORCHELASTIC_SIGNALS_TO_HANDLE"
#define GRACE (30 * MSEC_PER_SECOND)
#define LONGEST_GRACE (1000 * 1000) /* seconds */

/* SIGINT, SIGTERM, SIGHUP and SIGQUIT stop a job in any case. */
static void read_signals(const struct options *options, struct launch_signals *signals,
			 struct text *faults)
{
	const char *word = rendezvous_option(options, "signals-to-handle");
	char *names CLEANUP(mem_free_text) = mem_copy_text(word ? word : getenv(SIGNALS_VARIABLE));
	char *rest = names, *name;
	struct err err;

	while ((name = strsep(&rest, ", "))) {
		int number = 0;

		if (*name && stop_signal_read(name, &number, &err) < 0)
			text_addf(faults, "--signals-to-handle: %s\n", err.text);
		if (number == SIGUSR1 || number == SIGUSR2)
			signals->stops_at[number == SIGUSR2] = true;
		else if (number == SIGKILL || number == SIGSTOP)
			text_addf(faults, "--signals-to-handle: %s cannot be handled\n", name);
	}
}

/* torchrun's seconds, or a duration with its unit. */
static void read_grace(const struct options *options, msec *grace, struct text *faults)
{
	const char *said = rendezvous_option(options, "shutdown-timeout");
	const char *word = said ? said : getenv(TIMEOUT_VARIABLE);
	int64_t seconds;
	struct err err;

	*grace = GRACE;
	if (!word)
		return;
	if (text_read_int(word, 0, LONGEST_GRACE, &seconds, NULL) == 0)
		*grace = seconds * MSEC_PER_SECOND;
	else if (text_read_duration(word, grace, &err) < 0)
		text_addf(faults, "%s: %s\n", said ? "--shutdown-timeout" : TIMEOUT_VARIABLE,
			  err.text);
}

void launch_signals_read(const struct options *options, struct launch_signals *signals,
			 struct text *faults)
{
	*signals = (struct launch_signals){0};
	read_signals(options, signals, faults);
	read_grace(options, &signals->grace, faults);
}
