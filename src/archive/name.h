/* Which names in an archive stay inside of the folder that it is unpacked into. Pure. */
#pragma once

#include <stdbool.h>

/* Relative, and without "..". NULL and "" are not. */
bool archive_name_is_inside(const char *name);
/* ".", "./" and their like. */
bool archive_name_is_folder_itself(const char *name);
/* Whether a symbolic link called `name`, which is inside, can only lead to a place inside, whatever
 * other links of this kind there are: its target is relative, ".." stands only at its beginning,
 * and not more often than the folder of the link is deep. Behind another name ".." would be where
 * that leads to, which no text tells. */
bool archive_link_is_inside(const char *name, const char *target);
