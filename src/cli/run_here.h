/* A job of this machine that a call sees through, as its options say. */
#pragma once

#include "base/own.h"
#include "cli/options.h"
#include "engine/supervision_local.h"

/* `request` has everything but what the options detach, quiet, output, color and replace, and the
 * state folder, say. Gives the exit code; see supervisor_run. */
int run_here(const struct options *options, const char *state_folder,
	     const struct supervisor_request *request) MUST_USE;

/* Rows of what is shown meanwhile. */
#define RUN_OUTPUT_ROWS                                                                            \
	{.name = "quiet",                                                                          \
	 .group = OPTIONS_OF_OUTPUT,                                                               \
	 .letter = 'q',                                                                            \
	 .kind = OPTION_FLAG,                                                                      \
	 .has_variable = true,                                                                     \
	 .one_line = "do not print the output of the processes (see muster logs)"},                \
		{.name = "output",                                                                 \
		 .group = OPTIONS_OF_OUTPUT,                                                       \
		 .letter = 'o',                                                                    \
		 .kind = OPTION_WORD,                                                              \
		 .words = "json",                                                                  \
		 .one_line = "print the TFJob with its final status on stdout, everything else "   \
			     "on stderr"},                                                         \
		COLOR_ROW(OPTIONS_OF_OUTPUT)
