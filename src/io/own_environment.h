/* The variables of this process, for a program that is to have a few others. */
#pragma once

#include "base/own.h"

/* All of them with `changes`, which ends with NULL: "NAME=VALUE" sets one, "NAME" takes it away.
 * The entries are borrowed; the caller frees the list, which ends with NULL. */
char **own_environment_with(const char *const *changes) MUST_USE;
