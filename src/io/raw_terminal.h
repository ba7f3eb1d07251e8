/* A terminal whose keys are bytes for a remote program: no echo, no lines, and Ctrl-C is a byte
 * too. A separate process restores it, on request or when this process exits, for whatever
 * reason. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct raw_terminal;

/* Forks. ERR_IO: the descriptor is no terminal, or no process can be started. */
int raw_terminal_begin(int fd, struct raw_terminal **ret_raw, struct err *err) MUST_USE;
/* Returns when the terminal was restored. NULL is fine. */
void raw_terminal_end(struct raw_terminal *raw);
