/* Names of signals are the C library's. */
#include "spec/stop_signal.h"

#include "base/mem.h"
#include "base/text.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

#define PREFIX "SIG"

static int number_of_name(const char *name)
{
	for (int number = 1; number < NSIG; number++) {
		const char *known = sigabbrev_np(number);

		if (known && strcasecmp(name, known) == 0)
			return number;
	}
	return 0;
}

int stop_signal_read(const char *word, int *ret_number, struct err *err)
{
	bool has_prefix = strncasecmp(word, PREFIX, strlen(PREFIX)) == 0;
	int number = number_of_name(has_prefix ? word + strlen(PREFIX) : word);
	int64_t value;

	if (!number && text_read_int(word, 1, NSIG - 1, &value, NULL) == 0)
		number = (int) value;
	if (!number)
		return err_set(
			err, ERR_INVALID,
			"unknown signal '%s'; usual ones are TERM, INT, HUP, QUIT, USR1 and USR2",
			word);
	*ret_number = number;
	return 0;
}

char *stop_signal_format(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? mem_format(PREFIX "%s", name) : mem_format("%d", number);
}

int stop_signal_of(const struct job *job)
{
	if (job->stop_signal)
		return job->stop_signal;
	return text_equals(job->stop_reason, stop_reason_words[STOP_INTERRUPTED]) ? SIGINT
										  : SIGTERM;
}
