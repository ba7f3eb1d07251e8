/* Requests the stacks of all threads from a Python process.
 *
 * Its sitecustomize (python/muster_stacks) has registered faulthandler for SIGURG, with a file that
 * stays open (docs.python.org/3/library/faulthandler). The main thread writes the stacks while it
 * handles the signal, whatever it was doing. So they are complete as soon as the signal is neither
 * pending nor blocked by its own handler. */
#pragma once

#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

/* A process that does not handle it ignores it, as one that calls exec after it was looked at. */
#define PYTHON_STACKS_SIGNAL SIGURG
#define PYTHON_STACKS_FILE "MUSTER_STACKS_FILE" /* the variable with the path of that file */

/* Why a process cannot write its stacks; NULL: on request it writes them into the file of `fd`. */
const char *python_stacks_obstacle(pid_t pid, int fd);
/* Sends the signal. ERR_NOT_FOUND: the process has exited. */
int python_stacks_ask(pid_t pid, struct err *err) MUST_USE;
/* Whether the stacks follow the first `size` bytes, which the file had before the request. Also
 * true if they never will, because the process has exited. */
bool python_stacks_are_written(pid_t pid, int fd, off_t size);
