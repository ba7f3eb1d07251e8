/* Copies the replicas' output, while they print it, into files that the user named: one for each
 * replica, with all its attempts. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "logs/name.h"
#include "logs/streams.h"
#include "spec/job.h"

#include <stddef.h>

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
