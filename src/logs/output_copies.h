/* Copies of what replicas print, while they print it, in files that a person named: one for each
 * replica, of all its attempts. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "logs/name.h"
#include "spec/job.h"

#include <stddef.h>

struct output_copies; /* of one job */
struct output_copy; /* of one attempt */

struct output_copies_settings {
	const char *pattern; /* spec/output_path.h; borrowed, like the job */
	const struct job *job;
	/* A copy cannot be written (any more); only the first one is told. */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

/* Makes the folder of the first one before anything is started: ERR_IO and ERR_SPACE name it. */
int output_copies_check(const char *pattern, const struct job *job, struct err *err) MUST_USE;

struct output_copies *output_copies_new(const struct output_copies_settings *settings) MUST_USE;
void output_copies_free(struct output_copies *copies); /* NULL is fine */

/* The file, with its folders; emptied for the first attempt, and continued by later ones, unless
 * each has a file of its own. One named stdout.log has a link beside it, stderr.log, for those who
 * look for what torchrun leaves. NULL where it cannot be made, or `copies` is NULL. Borrows
 * `copies`. */
struct output_copy *output_copies_open(struct output_copies *copies,
				       const struct log_name *name) MUST_USE;
/* What a disk or a pipe does not take ends the copy. NULL is fine. */
void output_copy_add(struct output_copy *copy, const char *bytes, size_t len);
void output_copy_close(struct output_copy *copy); /* NULL is fine */
