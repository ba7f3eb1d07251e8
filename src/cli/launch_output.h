/* torchrun's options for the output of a machine's processes: --log-dir, --redirects, --tee,
 * --log-line-prefix-template and --local-ranks-filter, each from the command line or from PET_NAME.
 *
 * Source: torch/distributed/run.py and torch/distributed/elastic/multiprocessing/api.py of PyTorch
 * 2.15 (Std.from_str, DefaultLogsSpecs). */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "command/options.h"
#include "console/console_style.h"

struct launch_output {
	struct stream_rule *rules; /* one for each process */
	struct streams streams; /* with these rules */
	bool is_quiet; /* no output is printed */
	const char *folder; /* --log-dir, and NULL if it is not given */
	char *pattern; /* of its files (spec/output_path.h); NULL: no files */
};

void launch_output_done(struct launch_output *output);
/* Each error is a line of `faults`. The output borrows from the options. */
void launch_output_read(const struct options *options, int n_processes, const char *role_name,
			struct launch_output *ret_output, struct text *faults);
/* Creates a new directory for this run, as torchrun names it: DIR/ID_RANDOM. ERR_IO, ERR_SPACE. */
int launch_output_make_folder(struct launch_output *output, const char *run_id,
			      struct err *err) MUST_USE;

/* Rows for the table of the command. */
#define LAUNCH_OUTPUT_ROWS                                                                         \
	{.name = "log-dir",                                                                        \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "DIR",                                                                      \
	 .one_line = "directory of redirected output: DIR/ID_*/attempt_0/LOCAL_RANK/stdout.log"},  \
		{.name = "redirects",                                                              \
		 .letter = 'r',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "STREAMS",                                                          \
		 .one_line = "do not print 1 (stdout), 2 (stderr) or 3 (both); 0:3,2:1: by "       \
			     "local rank"},                                                        \
		{.name = "tee",                                                                    \
		 .letter = 't',                                                                    \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "STREAMS",                                                          \
		 .one_line = "print 1, 2 or 3 with a prefix, and write to the log directory"},     \
		{.name = "log-line-prefix-template",                                               \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "TEXT",                                                             \
		 .one_line = "of --tee: ${role_name}, ${rank}, ${local_rank}, ${hostname}"},       \
		{.name = "duplicate-stdout-filters",                                               \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "WORDS",                                                            \
		 .one_line = "rejected: muster logs JOB | grep -F WORD"},                          \
		{.name = "duplicate-stderr-filters",                                               \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "WORDS",                                                            \
		 .one_line = "rejected, as well"},                                                 \
	{                                                                                          \
		.name = "local-ranks-filter", .kind = OPTION_TEXT, .value_name = "RANKS",          \
		.one_line = "print the output of these local ranks only: 0,1"                      \
	}
