/* What a file holds: its documents, with the objects that its template makes, and those of a List,
 * in their place. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "base/yaml.h"
#include "command/options.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed to begin. */
struct job_documents {
	struct document **list; /* in the order of the file */
	size_t count;
	bool is_lone; /* the file is one document, and neither a template nor a List */
	const struct document *template; /* NULL: it has none */

	struct document **written; /* as the file has them */
	size_t n_written;
};

/* How people name the file: by its path, or "standard input". NULL: the call names none. */
const char *job_documents_name(const struct options *options);
/* Tells faults of it, with their places. */
void job_documents_print_errors(const struct options *options, const struct faults *faults);

/* Reads the file as it is written. What is wrong becomes lines of `faults`. False then. */
bool job_documents_open(const struct options *options, struct job_documents *documents,
			struct text *faults) MUST_USE;
/* Makes the list of what was opened. False when something is wrong: faults of a template are told,
 * others are in `faults`. */
bool job_documents_make(const struct options *options, struct job_documents *documents,
			struct text *faults) MUST_USE;
void job_documents_done(struct job_documents *documents);

/* A lone document counts, whatever it says that it is: who reads it tells what it lacks. */
bool job_documents_is_job(const struct job_documents *documents, size_t index);
size_t job_documents_count_jobs(const struct job_documents *documents);
/* The one TFJob; NULL where there is none or more than one, which becomes a line of `faults`. What
 * is beside it is told. */
const struct document *job_documents_choose(const struct options *options,
					    const struct job_documents *documents,
					    struct text *faults);
