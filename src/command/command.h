/* A command: one file, one row of the table in main.c. Parsing, --help, the check of man pages and
 * completion use the row. And what is done with the table: a command is found and called, and help
 * is made from the rows. */
#pragma once

#include "base/exit_code.h"
#include "base/own.h"

struct options;
struct option_row;
struct text;

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
	const struct command *const *old_programs; /* as compat_commands */
};

/* The command of that name; NULL when there is none. */
const struct command *command_find(const struct command_table *table, const char *name);
/* Reads the arguments, without program and command name. Runs the command, or prints every error;
 * returns the exit code. */
int command_call(const struct command_table *table, const struct command *command, int argc,
		 char **argv);

/* Old programs whose command lines still work, as `muster compat NAME ARGS…` or when muster is
 * called by that name. The name of each is "compat NAME", as typed after `muster`; the table, which
 * ends with NULL, is defined a layer above, in src/compat/. */
extern const struct command *const compat_commands[];
/* The one for a program's name or path, with or without the ending .sh or .py of the old scripts,
 * dashes counting as underscores; NULL when there is none. */
const struct command *compat_find(const struct command_table *table, const char *program);
/* The part of its name after "compat ". */
const char *compat_name(const struct command *command);

/* The output of `muster NAME --help`: usage, options with their defaults and variables,
 * examples. */
void help_add_command(struct text *text, const struct command *command);
/* The commands in their groups, one line each. */
void help_add_overview(struct text *text, const struct command_table *table);
/* "muster: no command 'rnu'; did you mean 'run'?" and a hint where to look, as one or two lines. */
void help_add_unknown_command(struct text *text, const struct command_table *table,
			      const char *name);
