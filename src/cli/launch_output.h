/* torchrun's options for the output of a machine's processes: --log-dir, --redirects, --tee,
 * --log-line-prefix-template and --local-ranks-filter, each from the command line or from PET_NAME.
 *
 * Source: torch/distributed/run.py and torch/distributed/elastic/multiprocessing/api.py of PyTorch
 * 2.15 (Std.from_str, DefaultLogsSpecs). */
#pragma once

#include "base/text.h"
#include "command/options.h"
#include "console/console.h"

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
	OPTION("log-dir", TEXT, "DIR", NULL,                                                       \
	       "directory of redirected output: DIR/ID_*/attempt_0/LOCAL_RANK/stdout.log"),        \
		OPTION("redirects", TEXT, "STREAMS", NULL,                                         \
		       "do not print 1 (stdout), 2 (stderr) or 3 (both); 0:3,2:1: by local rank",  \
		       .letter = 'r'),                                                             \
		OPTION("tee", TEXT, "STREAMS", NULL,                                               \
		       "print 1, 2 or 3 with a prefix, and write to the log directory",            \
		       .letter = 't'),                                                             \
		OPTION("log-line-prefix-template", TEXT, "TEXT", NULL,                             \
		       "of --tee: ${role_name}, ${rank}, ${local_rank}, ${hostname}"),             \
		OPTION("duplicate-stdout-filters", TEXT, "WORDS", NULL,                            \
		       "rejected: muster logs JOB | grep -F WORD"),                                \
		OPTION("duplicate-stderr-filters", TEXT, "WORDS", NULL, "rejected, as well"),      \
		OPTION("local-ranks-filter", TEXT, "RANKS", NULL,                                  \
		       "print the output of these local ranks only: 0,1")
