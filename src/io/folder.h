/* Folders: made with all their parents, moved into others, removed with all that is in them. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdint.h>

/* Makes the folder and the parents it lacks, for this user alone (mode 0700). One that is there
 * already stays as it is. ERR_IO or ERR_SPACE names the folder that could not be made. */
int folder_create(const char *path, struct err *err) MUST_USE;
/* The same for all users, as far as the umask lets them. */
int folder_create_shared(const char *path, struct err *err) MUST_USE;

/* Whether nobody else may change what this user keeps in the folder; one that is not there is fine.
 * ERR_REFUSED: another user owns it (root may), or its group or others may write to it. The
 * sentence says what to do about a state folder. */
int folder_check_own(const char *path, struct err *err) MUST_USE;

/* Removes `name` inside the open folder `parent_fd`, with everything below it. Symbolic links are
 * removed, never followed; what is gone already is fine. ERR_IO names what could not be removed. */
int folder_remove(int parent_fd, const char *name, struct err *err) MUST_USE;

/* Moves a file or folder, of the same file system, to another name. A file that is there is
 * replaced; a folder goes into the one that is there, entry by entry, which keeps its own mode and
 * whatever has other names. ERR_EXISTS: there is a folder in the place of a file, or the other way
 * round; what was moved before stays. */
int folder_move(const char *source, const char *target, struct err *err) MUST_USE;
/* The same of all that is in a folder, which goes then. */
int folder_move_contents(const char *source, const char *target, struct err *err) MUST_USE;

/* Counts the files below a folder, links among them, and their bytes, and adds them; what cannot be
 * read is left out. */
void folder_measure(const char *path, uint64_t *n_files, uint64_t *bytes);
