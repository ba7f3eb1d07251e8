/* A terminal whose keys are bytes for a program elsewhere: no echo, no lines, and Ctrl-C is a byte
 * too. A process of its own puts it back as it was, when it is told to or when this process is
 * gone, however that came. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct raw_terminal;

/* Forks. ERR_IO: the descriptor is no terminal, or nothing can be started. */
int raw_terminal_begin(int fd, struct raw_terminal **ret_raw, struct err *err) MUST_USE;
/* Returns when it is as it was. NULL is fine. */
void raw_terminal_end(struct raw_terminal *raw);
