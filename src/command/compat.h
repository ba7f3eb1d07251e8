/* Old programs whose command lines still work, as `muster compat NAME ARGS…` or when muster is
 * called by that name. Their table is declared in this file and defined a layer above, in
 * src/compat/. */
#pragma once

#include "command/command.h"

/* The name of each is "compat NAME", as typed after `muster`; ends with NULL. */
extern const struct command *const compat_commands[];

/* The one for a program's name or path, with or without the ending .sh or .py of the old scripts,
 * dashes counting as underscores; NULL when there is none. */
const struct command *compat_find(const struct command_table *table, const char *program);
/* The part of its name after "compat ". */
const char *compat_name(const struct command *command);
