/* Asking a Python process where it is: the stacks of all its threads.
 *
 * Its sitecustomize (python/muster_stacks) has registered faulthandler for a real-time signal that
 * nothing else uses, with a file that is open from then on
 * (docs.python.org/3/library/faulthandler). The main thread writes the stacks while it handles the
 * signal, whatever it was doing; so they are whole as soon as the signal neither waits for it nor
 * is blocked by its own handler. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <sys/types.h>

#define PYTHON_STACKS_SIGNAL 62
#define PYTHON_STACKS_FILE "MUSTER_STACKS_FILE" /* the variable with the path of that file */

/* Why a process does not show its stacks; NULL: it does, into the file behind `fd`, when it is
 * asked. A process that does not is not to be asked: the signal would end it. */
const char *python_stacks_obstacle(pid_t pid, int fd);
/* Sends the signal. ERR_NOT_FOUND: the process is gone. */
int python_stacks_ask(pid_t pid, struct err *err) MUST_USE;
/* The stacks stand behind the first `size` bytes, which the file had before; or they never will,
 * because the process is gone. */
bool python_stacks_are_written(pid_t pid, int fd, off_t size);
