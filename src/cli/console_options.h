/* The options for the output of a job's replicas while it runs. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "command/output.h"
#include "console/console_style.h"
#include "spec/job.h"

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
