/* The environment of this process with a few changes, for a child program. */
#pragma once

#include "base/own.h"

/* All variables with `changes`, which ends with NULL: "NAME=VALUE" sets one, "NAME" removes it. The
 * entries are borrowed; the caller frees the list, which ends with NULL. */
char **own_environment_with(const char *const *changes) MUST_USE;
