/* The variables that a call gives its processes: --env and --env-file. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "cli/options.h"
#include "core/job.h"

#include <stddef.h>

struct variables {
	struct env_entry *list; /* in the order in which they were given; later ones win */
	size_t count;
	size_t capacity;
	struct arena *arena; /* owns the texts */
};

void variables_done(struct variables *variables);
/* Takes "NAME=VALUE". ERR_INVALID says what is wrong with it. */
int variables_add(struct variables *variables, const char *assignment, struct err *err) MUST_USE;
/* Takes a file of such lines, as docker run --env-file and kubectl --from-env-file do: values are
 * literal, lines that begin with # and blank ones are left out. ERR_INVALID names file and line. */
int variables_add_file(struct variables *variables, const char *path, struct err *err) MUST_USE;
/* Takes what --env-file and --env say, files first. ERR_INVALID, or the errors of input_read. */
int variables_read(const struct options *options, struct variables *variables,
		   struct err *err) MUST_USE;
