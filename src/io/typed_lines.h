/* Hands on the lines that a person types at our terminal to a process that may not read there: one
 * in a group of its own, as the shell and the terminal see it, is in the background (termios(3)).
 */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Forks a process that stays in our group, reads standard input while the shell leaves the terminal
 * to us, and writes it into a pipe, whose other end the caller gets. The pipe ends with Ctrl-D. The
 * process ends with its reader or with us. ERR_IO. */
int typed_lines_open(int *ret_fd, struct err *err) MUST_USE;
