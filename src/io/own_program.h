/* The file of the program that runs now, so that it can be started once more. */
#pragma once

#include "base/own.h"

/* Its path, whatever it was called by, a link included. Where the file was replaced meanwhile (an
 * update), "/proc/self/exe", by which the kernel still starts the same one, from this process and
 * from a child that has started no program yet. Caller frees. */
char *own_program_path(void) MUST_USE;
