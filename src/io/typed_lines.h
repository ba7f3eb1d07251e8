/* Forwards the lines that a user types at our terminal to a process that may not read from it: a
 * process in its own group is in the background for the shell and the terminal (termios(3)). */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Forks a process that stays in our group. It reads standard input while we are in the foreground,
 * and writes the lines into a pipe, whose other end the caller gets. The pipe ends with Ctrl-D. The
 * process exits when the reader closes the pipe, and with us. ERR_IO. */
int typed_lines_open(int *ret_fd, struct err *err) MUST_USE;
