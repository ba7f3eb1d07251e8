/* Finds the line of a program's output that says what went wrong. Pure.
 *
 * Sources of the forms: Python's traceback module (PEP 654 for exception groups), argparse, click,
 * Rich's framed tracebacks, faulthandler, libstdc++, Abseil's log, and the prefixes that torch
 * ("[rank1]: ") and torchrun --tee ("[default1]:") put before each line. */
#pragma once

#include "base/mem.h"

#include <stddef.h>

/* The line with which C++ aborted, else the exception of the last traceback (of an exception group
 * the first one inside), else the last line in which a program reports an error; without colors and
 * prefixes, in the arena. NULL where no line is of that kind. */
const char *exception_find(const char *const *lines, size_t n_lines, struct arena *arena);
