/* The file of the program that runs now, so that it can be started once more. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Its path, whatever it was called by, a link included. Where the file was replaced meanwhile (an
 * update), "/proc/self/exe", by which the kernel still starts the same one, from this process and
 * from a child that has started no program yet. Caller frees. */
char *own_program_path(void) MUST_USE;
/* Copies it to a path, where another file is replaced; all may run the copy. ERR_IO, ERR_SPACE. */
int own_program_copy(const char *path, struct err *err) MUST_USE;
