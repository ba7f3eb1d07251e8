/* Folders of our own state: made with all their parents, removed with all that is in them. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Makes the folder and the parents it lacks, for this user alone (mode 0700). One that is there
 * already stays as it is. ERR_IO or ERR_SPACE names the folder that could not be made. */
int folder_make(const char *path, struct err *err) MUST_USE;

/* Removes `name` inside the open folder `parent_fd`, with everything below it. Symbolic links are
 * removed, never followed; what is gone already is fine. ERR_IO names what could not be removed. */
int folder_remove(int parent_fd, const char *name, struct err *err) MUST_USE;
