/* Names of signals are the C library's. */
#include "spec/stop_signal.h"

#include "base/mem.h"
#include "base/names.h"
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

static const int signals[STOP_REASON_COUNT] = {
	[STOP_INTERRUPTED] = SIGINT, [STOP_TERMINATED] = SIGTERM,    [STOP_HANGUP] = SIGHUP,
	[STOP_QUIT] = SIGQUIT,       [STOP_USER_SIGNAL_1] = SIGUSR1, [STOP_USER_SIGNAL_2] = SIGUSR2,
	[STOP_REQUESTED] = SIGTERM,
};

enum stop_reason stop_signal_reason(int number)
{
	enum stop_reason reason = 0;

	while (reason < STOP_REQUESTED && signals[reason] != number)
		reason++;
	return reason;
}

int stop_signal_of(const struct job *job)
{
	int reason = name_find_word(stop_reason_words, STOP_REASON_COUNT, job->stop_reason);

	if (job->stop_signal)
		return job->stop_signal;
	return reason < 0 || (reason == STOP_HANGUP && !job->elastic_id) ? SIGTERM
									 : signals[reason];
}
