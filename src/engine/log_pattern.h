/* A POSIX extended regular expression that lines are searched for. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed, it matches every line. */
struct log_pattern {
	regex_t expression;
	bool is_set;
	struct text line; /* room for the one that is searched */
};

/* NULL: every line. ERR_INVALID says what is wrong with the expression. */
int log_pattern_init(struct log_pattern *pattern, const char *expression, struct err *err) MUST_USE;
void log_pattern_done(struct log_pattern *pattern);
/* The line may hold anything, and needs no NUL at its end. */
bool log_pattern_matches(struct log_pattern *pattern, const char *bytes, size_t len);
