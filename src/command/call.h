/* A call of one command of the table. */
#pragma once

#include "command/command.h"

/* The command of that name; NULL when there is none. */
const struct command *command_find(const struct command_table *table, const char *name);
/* Reads the arguments of a call, without program and command name, and runs the command, or tells
 * every mistake; gives the exit code. */
int command_call(const struct command_table *table, const struct command *command, int argc,
		 char **argv);
