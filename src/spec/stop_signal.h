/* The signal that asks the processes of a job to exit: its notation, and its number. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/job.h"

/* Reads "INT", "SIGINT" (in any case) or "2". ERR_INVALID names the usual ones. */
int stop_signal_read(const char *word, int *ret_number, struct err *err) MUST_USE;

/* The notation of an image's STOPSIGNAL: "SIGINT"; for a signal without a name its number. Caller
 * frees. */
char *stop_signal_format(int number) MUST_USE;

/* The signal of a stop of this job: the job's own; SIGINT after Ctrl-C, as the terminal would have
 * sent; else SIGTERM. */
int stop_signal_of(const struct job *job);
