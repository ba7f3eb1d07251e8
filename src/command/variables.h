/* The variables that a call gives its processes: --env and --env-file. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "command/options.h"
#include "spec/job.h"

#include <stddef.h>

struct variables {
	struct env_entry *list; /* in the order in which they were given; later ones win */
	size_t count;
	size_t capacity;
	struct arena *arena; /* owns the texts */
};

void variables_done(struct variables *variables);
/* Takes a file of such lines, as docker run --env-file does: values are literal, lines that begin
 * with # and blank ones are left out. Each line that is wrong is a line of `faults`, with file and
 * number; so is a file that cannot be read. */
void variables_add_file(struct variables *variables, const char *path, struct text *faults);
/* Takes what --env-file and --env say, files first. What is wrong is a line of `faults` each. */
void variables_read(const struct options *options, struct variables *variables,
		    struct text *faults);
