/* Finds where the last lines of a log begin: it is read from its end, so the size of the log does
 * not matter. */
#pragma once

#include "base/own.h"
#include "logs/attempt.h"
#include "logs/pattern.h"

#include <stddef.h>
#include <stdint.h>

/* Offset of the first of the last *n_lines lines that match, not before `floor`; *n_lines is
 * decreased by the number found. A last line without an end counts. `line_limit`: only that much of
 * a line is searched for the pattern. */
int64_t log_tail_find(struct log_attempt *attempt, int64_t floor, const struct log_pattern *pattern,
		      size_t line_limit, int64_t *n_lines);

/* Offset of the start of the line with the byte at `offset`, not before `floor`. */
int64_t log_tail_line_begin(struct log_attempt *attempt, int64_t floor, int64_t offset);
