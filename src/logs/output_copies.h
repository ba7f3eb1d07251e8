/* Which of a job's streams are shown, and which are copied into files that the user named, while
 * they are printed: one for each replica, with all its attempts. */
#pragma once

#include "base/err.h"
#include "logs/folder.h"
#include "spec/job.h"

/* Where the two streams of a job's processes go when a user keeps them apart: on muster's own
 * stdout and stderr, and into files. Each process may have its own rule, as with torchrun.
 *
 * Source: torch/distributed/elastic/multiprocessing/api.py of PyTorch 2.15 (Std,
 * DefaultLogsSpecs). */

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

struct output_copies; /* of one job */
struct output_copy; /* of one attempt */

struct output_copies_settings {
	const char *pattern; /* spec/output_path.h, or "/dev/null": no files, and no error file;
				borrowed, like the job */
	const struct job *job;
	const struct streams *streams; /* which streams are copied; borrowed; NULL: all */
	/* Called when a copy can no longer be written; only for the first one. */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

/* Creates the directory of the first one before anything is started: ERR_IO and ERR_SPACE name
 * it. */
int output_copies_check(const char *pattern, const struct job *job, struct err *err) MUST_USE;

struct output_copies *output_copies_new(const struct output_copies_settings *settings) MUST_USE;
void output_copies_free(struct output_copies *copies); /* NULL is fine */

/* Opens the file, and creates its directories. The first attempt empties it and later ones append,
 * unless each attempt has its own file. A separate stderr is in a file of its own: stderr.log next
 * to stdout.log. NULL if it is not copied, cannot be created, or `copies` is NULL. Borrows
 * `copies`. */
struct output_copy *output_copies_open(struct output_copies *copies,
				       const struct log_name *name) MUST_USE;
/* The file in which a process may leave its error, next to its stdout.log, in a directory that
 * exists; "": it has none. NULL if the pattern names no such file, or `copies` is NULL. The caller
 * frees it. */
char *output_copies_error_file(struct output_copies *copies, const struct log_name *name) MUST_USE;
/* An error of the disk or pipe ends the copy. NULL is fine. */
void output_copy_add(struct output_copy *copy, const char *bytes, size_t len);
void output_copy_close(struct output_copy *copy); /* NULL is fine */
