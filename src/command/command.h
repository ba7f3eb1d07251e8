/* A command: one file, one row of the table in main.c. Parsing, --help, the check of man pages and
 * completion use the row. */
#pragma once

#include "base/exit_code.h"

#include <stdbool.h>
#include <stddef.h>

struct options;
struct option_row;

struct command {
	const char *name;
	const char *group; /* heading under which help lists it; commands of a group are adjacent */
	/* The arguments in the usage line, "[OPTIONS] JOB"; several forms on a line each. */
	const char *arguments;
	const char *one_line; /* what it does, in one line */
	const char *examples; /* lines that --help prints unchanged; NULL: none */
	const struct option_row *options; /* ends with a row without a name */
	size_t least_arguments, most_arguments; /* plain arguments; not counted for takes_program */
	/* Options end at the first plain argument: everything after it belongs to the started
	 * program. */
	bool takes_program;
	bool takes_go_flags; /* accepts -name for --name, as an older program did */
	int (*run)(const struct options *options); /* returns the exit code */
};

#define COMMAND_ANY_NUMBER ((size_t) -1) /* most_arguments without a limit */

/* All commands: main.c has it, and options_table returns it. Lists end with NULL. */
struct command_table {
	const struct command *const *commands; /* in the order in which help shows them */
	const struct command *const *old_programs; /* as in command/compat.h */
};
