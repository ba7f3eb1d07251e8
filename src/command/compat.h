/* Old programs whose command lines still work, as `muster compat NAME ARGS…` or when muster is
 * called by that name. Their table is declared here and defined a floor above, in src/compat/. */
#pragma once

#include "command/command.h"

/* The name of each is "compat NAME", as a person writes it behind `muster`; ends with NULL. */
extern const struct command *const compat_commands[];

/* The one of them that a program's name or path means, with or without the ending .sh or .py of the
 * old scripts, dashes counting as underscores; NULL when there is none. */
const struct command *compat_find(const struct command_table *table, const char *program);
/* What follows "compat " in its name. */
const char *compat_name(const struct command *command);
