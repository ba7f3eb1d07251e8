/* Supervises a local job as the options of a command line say, and what `run` does with a job that
 * continues or has ended, here or on a cluster. */
#pragma once

#include "base/own.h"
#include "cli/console_options.h"
#include "command/options.h"
#include "local/supervision.h"

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
int detached_report(const struct options *options, const char *namespace_name, const char *name);
