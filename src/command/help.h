/* The text of --help and of `muster help`, made from the commands' rows. */
#pragma once

#include "base/text.h"
#include "command/command.h"

/* The output of `muster NAME --help`: usage, options with their defaults and variables,
 * examples. */
void help_add_command(struct text *text, const struct command *command);
/* The commands in their groups, one line each. */
void help_add_overview(struct text *text, const struct command_table *table);
/* "muster: no command 'rnu'; did you mean 'run'?" and a hint where to look, as one or two lines. */
void help_add_unknown_command(struct text *text, const struct command_table *table,
			      const char *name);
