/* Named values of a command line: environment variables for the job's processes (--env,
 * --env-file), or the parameters of a template (--param, --param-file). */
#pragma once

#include "base/text.h"
#include "command/options.h"
#include "spec/job.h"

/* Zero it to begin. */
struct variables {
	bool are_parameters;
	bool are_literal; /* an --env-file is read as docker does */
	struct env_entry *list; /* in the order given; later ones override */
	size_t count;
	size_t capacity;
	struct arena *arena; /* owns the texts */
};

void variables_done(struct variables *variables);
/* Reads a file of such lines. Empty lines and lines that begin with # are ignored. Unless values
 * are literal, an --env-file is read as python-dotenv and `uv run --env-file` do, and a shell: a
 * line may begin with "export ", a value may be quoted, and " #" begins a comment behind one that
 * is not. Each invalid line is a line of `faults`, with file and number; so is a file that cannot
 * be read. */
void variables_add_file(struct variables *variables, const char *path, struct text *faults);
/* Reads the files and then the options, so that these win. Each error is a line of `faults`. */
void variables_read(const struct options *options, struct variables *variables,
		    struct text *faults);
