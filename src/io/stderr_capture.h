/* Sets aside what is written to standard error for a while, to be shown later or forgotten: a
 * library's chatter, which is worth reading only when it fails. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct stderr_capture {
	int memory_fd; /* what was written; seen by processes forked after stderr_capture_open */
	int error_fd; /* the real standard error while it is set aside; else -1 */
};

int stderr_capture_open(struct stderr_capture *ret_aside, struct err *err) MUST_USE;
/* From here to stderr_capture_end standard error goes aside. Does nothing where that fails. */
void stderr_capture_begin(struct stderr_capture *capture);
void stderr_capture_end(struct stderr_capture *capture);
/* Writes what was set aside to standard error. */
void stderr_capture_show(const struct stderr_capture *capture);
