/* How a person wants to see the output of a job's replicas. */
#pragma once

#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>

struct console_style {
	const char *color; /* "auto", "always", "never"; NO_COLOR is looked at under "auto" */
	bool is_quiet; /* no output of replicas */
	bool hides_names; /* before the lines */
	bool shows_times; /* of the lines */
	bool is_local; /* times of this machine's zone, not UTC */
	const struct log_name *only; /* these replicas; their attempts do not count; borrowed */
	size_t n_only; /* 0: all replicas */
};
