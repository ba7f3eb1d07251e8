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

/* Why a job stops when muster gets this signal; STOP_REQUESTED: for any other. */
enum stop_reason stop_signal_reason(int number);

/* The signal of a stop of this job: the job's own, else that which muster got. But when a terminal
 * closes, SIGTERM: scripts that save their state handle it, and seldom SIGHUP; an elastic job gets
 * SIGHUP, as with torchrun. */
int stop_signal_of(const struct job *job);
