/* torchrun's --signals-to-handle and --shutdown-timeout, each from the command line or from the
 * environment.
 *
 * Source: torch/distributed/run.py and torch/distributed/elastic/multiprocessing/api.py of PyTorch
 * 2.15. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "command/options.h"

#include <stdbool.h>

struct launch_signals {
	bool stops_at[2]; /* SIGUSR1 and SIGUSR2 */
	msec grace;
};

/* Each error is a line of `faults`. */
void launch_signals_read(const struct options *options, struct launch_signals *ret_signals,
			 struct text *faults);

/* Rows for the table of the command. */
#define LAUNCH_SIGNAL_ROWS                                                                         \
	{.name = "signals-to-handle",                                                              \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "NAMES",                                                                    \
	 .one_line = "SIGUSR1,SIGUSR2: they stop the job (default: its processes get them)"},      \
	{                                                                                          \
		.name = "shutdown-timeout", .kind = OPTION_TEXT, .value_name = "SECONDS",          \
		.one_line = "between the stop signal and SIGKILL, or a time as 2m (default 30)"    \
	}
