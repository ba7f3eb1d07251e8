/* The user's choices for the output of a job's replicas. */
#pragma once

#include "logs/folder.h"
#include "logs/output_copies.h"

#include <stdbool.h>
#include <stddef.h>

struct console_style {
	const char *color; /* "auto", "always", "never"; NO_COLOR applies to "auto" */
	bool is_quiet; /* no output of replicas */
	bool hides_names; /* before the lines */
	bool shows_times; /* of the lines */
	bool is_local; /* times in this machine's time zone, not UTC */
	const struct log_name *only; /* only these replicas; their attempts are ignored; borrowed */
	size_t n_only; /* 0: all replicas */
	struct streams streams; /* what it has is borrowed */
};
