/* The file of the running program, to start it again. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Its path, without links, whatever name it was called by. If the file was replaced meanwhile (an
 * update), "/proc/self/exe", which still starts the same program from this process, and from a
 * child before its exec. Caller frees. */
char *own_program_path(void) MUST_USE;
/* Copies it to a path, replacing another file; all users may execute the copy. ERR_IO,
 * ERR_SPACE. */
int own_program_copy(const char *path, struct err *err) MUST_USE;
