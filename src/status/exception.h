/* Finds the line of a program's output that says what went wrong. Pure.
 *
 * Sources of the forms: Python's traceback module (PEP 654 for exception groups), python's own
 * ("python3: can't open file …"), TensorFlow's AutoGraph ("TypeError: in user code:", with the
 * exception itself at the end of what follows), argparse, click,
 * Rich's framed tracebacks, faulthandler, libstdc++, Abseil's log, and the prefixes that torch
 * ("[rank1]: ") and torchrun --tee ("[default1]:") put before each line. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "status/printed.h"

#include <stdbool.h>

/* The line with which C++ aborted, else the exception of the last traceback (of an exception group
 * the first one inside), else the last line in which a program reports an error; without colors and
 * prefixes, in the arena. NULL where no line is of that kind, and where the program went on for a
 * second behind it, as one does that has caught its exception. */
const char *exception_find(const struct printed *printed, struct arena *arena);

/* The same of what the program printed before it blamed a peer: one that has failed may wait for
 * its peers, and be aborted when they are (JAX). `*ret_time` is when (MSEC_UNSET: nobody knows);
 * NULL is fine. */
const char *exception_find_own(const struct printed *printed, struct arena *arena, msec *ret_time);

/* It says that another process did not answer, or is gone: that one may know more. From what Gloo,
 * NCCL, torch's stores, JAX's coordination service and gRPC print. */
bool exception_blames_peer(const char *exception);
