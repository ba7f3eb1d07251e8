/* Finds the line of a program's output that says what went wrong. Pure.
 *
 * Sources of the forms: Python's traceback module (PEP 654 for exception groups), argparse, click,
 * Rich's framed tracebacks, faulthandler, libstdc++, Abseil's log, and the prefixes that torch
 * ("[rank1]: ") and torchrun --tee ("[default1]:") put before each line. */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the line with which C++ aborted, else the exception of the last traceback (of an exception
 * group the first one inside), else the last line in which a program reports an error. Colors and
 * prefixes are left out. False, and nothing is added, where no line is of that kind. */
bool exception_add(const char *const *lines, size_t n_lines, struct text *text);
