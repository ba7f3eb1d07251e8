/* Runs one command of the table. */
#pragma once

#include "command/command.h"

/* The command of that name; NULL when there is none. */
const struct command *command_find(const struct command_table *table, const char *name);
/* Reads the arguments, without program and command name. Runs the command, or prints every error;
 * returns the exit code. */
int command_call(const struct command_table *table, const struct command *command, int argc,
		 char **argv);
