/* What `run` and its kin do with a job, here or on a cluster: how its output is shown, its
 * supervision on this machine as the options say, and what follows when it continues in the
 * background or has ended. */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "command/output.h"
#include "console/console.h"
#include "local/supervision.h"
#include "spec/job.h"

/* The options for the output of a job's replicas while it runs. */

struct console_options {
	struct console_style style;
	struct log_name *only; /* the list of style.only */
};

/* ERR_INVALID: --only has no replica name, or none of the job's (NULL: not known yet). The style
 * borrows from this struct and from the options. */
int console_options_read(const struct options *options, const struct job *job,
			 struct console_options *console_options, struct err *err) MUST_USE;
/* Reads --output-dir (logs/output_copies.h), and creates its directory; NULL: not given. The caller
 * frees the pattern. ERR_INVALID, ERR_IO, ERR_SPACE. */
int console_options_prepare_copies(const struct options *options, const struct job *job,
				   char **ret_pattern, struct err *err) MUST_USE;
void console_options_done(struct console_options *console_options);

#define CONSOLE_ROWS(of_group)                                                                     \
	FLAG("quiet", "do not print the output of the processes (see muster logs)", .letter = 'q', \
	     .group = (of_group), .has_variable = true),                                           \
		OPTION("only", LIST, "ROLE-INDEX", NULL,                                           \
		       "print the output of these replicas only: worker-0,ps-1 or repeated",       \
		       .group = (of_group)),                                                       \
		OPTION("prefix", FLAG, NULL, "true", "print the replica's name before each line",  \
		       .group = (of_group)),                                                       \
		FLAG("timestamps", "print the time of each line before it", .group = (of_group)),  \
		UTC_ROW(of_group), COLOR_ROW(of_group)

/* Limits this process, and all that it starts, to what the job may use on this machine; prints why
 * that is not possible, and that a job in the background may end with the session. */
void run_limit_here(const struct job *job, bool is_detached);

/* Fills in `request`: the options detach, output and replace, those of CONSOLE_ROWS, and the state
 * directory. Returns the exit code; see supervisor_run. */
int run_here(const struct options *options, const char *state_folder,
	     const struct supervisor_request *request) MUST_USE;

/* Applies --rm when a job has finished with that exit code: a job that succeeded is deleted with
 * its logs. On this machine (namespace NULL) both processes of muster call this, and only the first
 * one deletes. Returns the exit code. */
int run_remove_finished(const struct options *options, const char *namespace_name, const char *name,
			int exit_code) MUST_USE;

/* Rows of the options for the output. */
#define RUN_OUTPUT_ROWS                                                                            \
	WORDS("output", "json", NULL,                                                              \
	      "print the TFJob with its final status on stdout, everything else on stderr",        \
	      .letter = 'o', .group = OPTIONS_OF_OUTPUT),                                          \
		OPTION("stdin", TEXT, "ROLE-INDEX", NULL,                                          \
		       "give standard input, or what you type, to this replica (input(), pdb)",    \
		       .group = OPTIONS_OF_OUTPUT),                                                \
		FLAG("tty", "give each process a terminal as its stdout and stderr",               \
		     .group = OPTIONS_OF_OUTPUT),                                                  \
		OPTION("notify", TEXT, "COMMAND", NULL,                                            \
		       "run this shell command when the job has ended, with MUSTER_STATE ...",     \
		       .group = OPTIONS_OF_OUTPUT),                                                \
		FLAG("separate-stderr",                                                            \
		     "print what processes write to stderr on stderr, not on stdout",              \
		     .group = OPTIONS_OF_OUTPUT),                                                  \
		OPTION("output-dir", TEXT, "DIR", NULL,                                            \
		       "also write the output of each replica to DIR/ROLE-INDEX.log; or "          \
		       "DIR/%j-%t.out, as Slurm",                                                  \
		       .group = OPTIONS_OF_OUTPUT),                                                \
		CONSOLE_ROWS(OPTIONS_OF_OUTPUT)

/* For a job that continues in the background: prints its name on stdout, or with --output the whole
 * job; and how to see more of it. The namespace is NULL for a local job. Returns the exit code. */
int detached_report(const struct options *options, const char *namespace_name,
		    const struct job *job);
