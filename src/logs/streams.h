/* Where the two streams of a job's processes go when a user keeps them apart: on muster's own
 * stdout and stderr, and into files. Each process may have its own rule, as with torchrun.
 *
 * Source: torch/distributed/elastic/multiprocessing/api.py of PyTorch 2.15 (Std,
 * DefaultLogsSpecs). */
#pragma once

#include "base/own.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>

/* A set of streams, with the numbers of torchrun's --redirects and --tee. */
enum {
	STREAM_STDOUT = 1,
	STREAM_STDERR = 2,
	STREAM_BOTH = 3,
};

/* Sets of streams of one process. */
struct stream_rule {
	int shown; /* are printed … */
	int marked; /* … with `prefix` instead of the replica's name */
	int copied; /* into the user's directory, as stdout.log and stderr.log */
};

struct streams {
	bool are_apart; /* each has a pipe and a log of its own */
	const struct stream_rule *rules; /* by index, for a job with one role; NULL: all is shown
					    and copied */
	size_t n_rules;
	const char *prefix; /* of marked lines, a Python template with role_name, rank, local_rank
			       and hostname; NULL: torchrun's default */
	const char *role_name;
};

/* NULL: all is shown, and copied. */
bool streams_show(const struct streams *streams, const struct log_name *name);
bool streams_mark(const struct streams *streams, const struct log_name *name);
bool streams_copy(const struct streams *streams, const struct log_name *name);

/* The prefix of marked lines of a process; the caller frees it. An unknown variable stays as it
 * is. `first_rank`: the global rank of the machine's first process. */
char *streams_prefix(const struct streams *streams, int index, int first_rank) MUST_USE;
