/* The folders of a PATH. An empty element, which a shell takes for the current folder, is passed
 * over: the author of that folder, and not the user, would choose the programs. Allocates
 * nothing, for children between vfork and exec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Gives the next folder, without a NUL behind, and its length; NULL when none is left. `*rest`
 * begins as the PATH (NULL: no folder) and moves on. */
const char *search_path_next(const char **rest, size_t *ret_len);
bool search_path_has_empty(const char *path);
