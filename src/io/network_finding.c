/* Findings and their words. */
#include "io/network_finding.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const network_stage_words[4] = {"resolve", "connect", "answer", "done"};

void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *format, ...)
{
	va_list values;

	finding->stage = stage;
	va_start(values, format);
	vsnprintf(finding->error, sizeof(finding->error), format, values);
	va_end(values);
	/* Sentences of the system begin with a capital, ours do not. */
	if (islower((unsigned char) finding->error[1]))
		finding->error[0] = (char) tolower((unsigned char) finding->error[0]);
}

void network_finding_fail_errno(struct network_finding *finding, enum network_stage stage,
				int errno_value)
{
	const char *words = errno_value == ETIMEDOUT ? "timed out" : strerror(errno_value);

	network_finding_fail(finding, stage, "%s", words);
}
