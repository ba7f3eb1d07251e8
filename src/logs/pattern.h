/* A POSIX extended regular expression that lines are searched for, in a time that grows with the
 * line and in a memory that does not (docs/design/0027-searching-logs.md).
 *
 * The library for it is opened when the first expression is made: most calls have none. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

struct log_pattern; /* NULL matches every line */

/* NULL: every line. ERR_INVALID says what is wrong with the expression; ERR_UNSUPPORTED: the
 * library is not here. */
int log_pattern_new(const char *expression, struct log_pattern **ret_pattern,
		    struct err *err) MUST_USE;
void log_pattern_free(struct log_pattern *pattern);
/* The line may hold anything, and needs no NUL at its end. */
bool log_pattern_matches(const struct log_pattern *pattern, const char *bytes, size_t len);
