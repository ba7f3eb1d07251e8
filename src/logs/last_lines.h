/* The last lines of one attempt's log, for the report of a failed job. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "status/printed.h"

#include <stddef.h>

/* Oldest first, at most `most` and each cut to LIMIT_LAST_LINE_LENGTH bytes; they live in the
 * arena. A line without an end counts. */
int log_last_lines(const char *folder, const char *role, int index, int attempt, size_t most,
		   struct arena *arena, struct printed *ret_printed, struct err *err) MUST_USE;
