/* torchrun's options for the output of a machine's processes: --log-dir, --redirects, --tee and
 * --local-ranks-filter, each from the command line or from PET_NAME.
 *
 * muster keeps both streams of a process together, in the order of arrival. So a redirect applies
 * to both or none; in a log directory, stdout.log has both and stderr.log is a link to it.
 *
 * Source: torch/distributed/run.py and torch/distributed/elastic/multiprocessing/api.py of PyTorch
 * 2.15 (Std.from_str, DefaultLogsSpecs). */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "command/options.h"
#include "console/console_style.h"

struct launch_output {
	struct log_name *shown; /* processes whose output is printed; empty: all */
	size_t n_shown;
	bool is_quiet; /* no output is printed */
	char *pattern; /* of its files (spec/output_path.h); NULL: no files */
};

void launch_output_done(struct launch_output *output);
/* Each error is a line of `faults`. */
void launch_output_read(const struct options *options, int n_processes,
			struct launch_output *ret_output, struct text *faults);

/* Rows for the table of the command. */
#define LAUNCH_OUTPUT_ROWS                                                                         \
	{.name = "log-dir",                                                                        \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "DIR",                                                                      \
	 .one_line = "also write output to DIR/NAME/attempt_0/LOCAL_RANK/stdout.log"},             \
		{.name = "redirects",                                                              \
		 .letter = 'r',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "STREAMS",                                                          \
		 .one_line = "3: do not print output; 0:3,2:3: that of local ranks 0 and 2"},      \
		{.name = "tee",                                                                    \
		 .letter = 't',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "STREAMS",                                                          \
		 .one_line = "3: print output even if it is redirected; 0:3: of local rank 0"},    \
	{                                                                                          \
		.name = "local-ranks-filter", .kind = OPTION_TEXT, .value_name = "RANKS",          \
		.one_line = "print the output of these local ranks only: 0,1"                      \
	}
