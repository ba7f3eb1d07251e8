/* A command: one file, one row of the table in main.c. Parsing, --help, man page check and
 * completion come out of the row. */
#pragma once

#include "base/exit_code.h"

#include <stdbool.h>
#include <stddef.h>

struct options;
struct option_row;

struct command {
	const char *name;
	const char *group; /* heading under which help lists it; commands of a group stand together
			    */
	/* How usage shows what follows the name, "[OPTIONS] JOB"; several forms on a line each. */
	const char *arguments;
	const char *one_line; /* what it does, in one line */
	const char *examples; /* lines that --help shows as they are; NULL: none */
	const struct option_row *options; /* ends with a row without a name */
	size_t least_arguments, most_arguments; /* plain arguments; not counted for takes_program */
	/* Where options stop: after the first plain argument everything belongs to the program that
	 * is run. */
	bool takes_program;
	bool takes_go_flags; /* -name for --name too: an older program was called so */
	int (*run)(const struct options *options); /* gives the exit code */
};

#define COMMAND_ANY_NUMBER ((size_t) -1) /* most_arguments without an end */

extern const struct command command_run, command_ps, command_status, command_logs, command_stop,
	command_delete, command_suspend, command_resume, command_scale, command_wait,
	command_render, command_help, command_version, command_compat, command_completion,
	command_doctor, command_server, command_check, command_probe, command_cp, command_attach,
	command_fetch, command_tensorboard, command_port_forward, command_exec, command_operator,
	command_submit, command_stacks, command_orchestrator, command_launch, command_pod_server,
	command_serve, command_drain;

/* What there is to call: main.c has it, and the options of a call lead to it (options_table). Lists
 * end with NULL. */
struct command_table {
	const struct command *const *commands; /* in the order in which help shows them */
	const struct command *const *old_programs; /* as of command/compat.h */
};
