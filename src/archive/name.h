/* Which names in an archive stay inside the target directory. Pure. */
#pragma once

#include <stdbool.h>

/* Whether the name is relative and without "..". False for NULL and "". */
bool archive_name_is_inside(const char *name);
/* For ".", "./" and similar. */
bool archive_name_is_folder_itself(const char *name);
/* Whether a symbolic link called `name`, which is inside, can only lead to a place inside, whatever
 * other such links exist. Its target must be relative. ".." may occur only at its beginning, and
 * not more often than the link's directory is deep: after another name, ".." would depend on where
 * that name leads. */
bool archive_link_is_inside(const char *name, const char *target);
