/* The signal that asks the processes of a job to end: how people write it, and which one it is. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/job.h"

/* Reads "INT", "SIGINT" (of any case) or "2". ERR_INVALID names the usual ones. */
int stop_signal_read(const char *word, int *ret_number, struct err *err) MUST_USE;

/* As an image's STOPSIGNAL has it: "SIGINT"; of a signal without a name its number. Caller frees.
 */
char *stop_signal_format(int number) MUST_USE;

/* What a stop of this job sends: the job's own signal; INT where somebody pressed Ctrl-C, as the
 * terminal would have sent; else TERM. */
int stop_signal_of(const struct job *job);
