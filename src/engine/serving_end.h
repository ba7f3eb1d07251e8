/* Ends a process that serves, whatever it is busy with. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Starts a thread that ends the process with code 0 when TERM, INT or HUP comes, and with 1 when
 * `outer_gone_fd` (io/guard) says that nobody looks after us any more. Call it before TensorFlow is
 * loaded: its threads inherit our signal mask, and its calls, which may take seconds or for ever,
 * cannot be interrupted. Signals that are ignored stay so (nohup). */
int serving_end_watch(int outer_gone_fd, struct err *err) MUST_USE;
