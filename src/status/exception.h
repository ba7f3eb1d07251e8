/* Finds the line of a program's output that states the error. Pure.
 *
 * Sources of the forms: Python's traceback module (PEP 654 for exception groups), the interpreter's
 * own errors ("python3: can't open file …"), TensorFlow's AutoGraph ("TypeError: in user code:",
 * with the exception itself at the end of what follows), argparse, click, Rich's framed tracebacks,
 * faulthandler, libstdc++, Abseil's log, and the prefixes that torch ("[rank1]: ") and torchrun
 * --tee ("[default1]:") put before each line. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"

/* The last lines that a program printed, oldest first. */
struct printed {
	const char **lines;
	msec *times; /* of each line; NULL: unknown */
	size_t count;
};

/* The line with which C++ aborted, else the exception of the last traceback (in an exception group
 * the first inner one), else the last line with an error message. It has no colors and prefixes,
 * and is in the arena. NULL if there is no such line, or if the program kept printing for a second
 * after it, as after a caught exception. */
const char *exception_find(const struct printed *printed, struct arena *arena);

/* The same for the output before the program blamed a peer: a failed program may wait for its
 * peers, and be aborted with them (JAX). `*ret_time` is the line's time (MSEC_UNSET: unknown); may
 * be NULL. */
const char *exception_find_own(const struct printed *printed, struct arena *arena, msec *ret_time);

/* The first, or the second if the first one blames a peer and there is one before it. */
const char *exception_find_cause(const struct printed *printed, struct arena *arena);

/* What a program said last, if it sounds like the reason for its end: sys.exit("no data in /x"),
 * which prints the text alone. NULL otherwise. */
const char *exception_find_last_words(const struct printed *printed, struct arena *arena);

/* Whether the exception says that another process did not respond or has exited, so that process
 * may know more. Recognizes messages of Gloo, NCCL, torch's stores, JAX's coordination service and
 * gRPC. */
bool exception_blames_peer(const char *exception);

/* Recognizes lines that machine learning programs print at every start, and that explain no
 * failure.
 *
 * Sources: Abseil's and glog's log lines at level INFO ("I0000 00:00:1795815815.181702 16722
 * port.cc:153] …"; absl/log/internal/log_format.cc), TensorFlow's before 2.17 ("2026-11-27
 * 21:36:55.000000: I tensorflow/core/…"), and the text after such a prefix. */
bool log_noise_is(const char *line);
