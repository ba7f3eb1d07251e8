/* Searches lines for a POSIX extended regular expression, in a time proportional to the line and in
 * constant memory (docs/design/0027-searching-logs.md).
 *
 * The library is loaded when the first expression is created: most commands use none. */
#pragma once

#include "base/err.h"

struct log_pattern; /* NULL matches every line */

/* NULL: every line. ERR_INVALID names the error in the expression; ERR_UNSUPPORTED: the library is
 * not installed. */
int log_pattern_new(const char *expression, struct log_pattern **ret_pattern,
		    struct err *err) MUST_USE;
void log_pattern_free(struct log_pattern *pattern);
/* The line may contain any byte, and needs no NUL at its end. */
bool log_pattern_matches(const struct log_pattern *pattern, const char *bytes, size_t len);
