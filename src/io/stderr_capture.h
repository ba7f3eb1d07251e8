/* Captures what is written to standard error, to show or drop it later: the messages of a library,
 * which matter only when it fails. */
#pragma once

#include "base/err.h"

struct stderr_capture {
	int memory_fd; /* the captured text; shared with processes forked after
			  stderr_capture_open */
	int error_fd; /* the real standard error during a capture; else -1 */
};

int stderr_capture_open(struct stderr_capture *ret_capture, struct err *err) MUST_USE;
/* From here to stderr_capture_end standard error is captured. Without effect if that fails. */
void stderr_capture_begin(struct stderr_capture *capture);
void stderr_capture_end(struct stderr_capture *capture);
/* Writes the captured text to standard error. */
void stderr_capture_show(const struct stderr_capture *capture);
