/* The directories of a PATH. An empty element, which a shell takes for the current directory, is
 * skipped: the owner of that directory, and not the user, would choose the programs. Allocates
 * nothing, for children between vfork and exec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the next directory, which no NUL follows, and its length; NULL when none is left. `*rest`
 * is at first the PATH (NULL: no directory) and advances. */
const char *search_path_next(const char **rest, size_t *ret_len);
bool search_path_has_empty(const char *path);
