/* The documents of a file. Those of a template are replaced by the objects that it makes, a List by
 * its items. */
#pragma once

#include "base/yaml.h"
#include "command/options.h"
#include "spec/job.h"

/* Set the options, and zero the rest to begin. */
struct job_documents {
	const struct options *options;
	struct document **list; /* in the order of the file */
	size_t count;
	bool is_lone; /* the file is one document, and neither a template nor a List */
	const struct document *template; /* NULL: it has none */

	struct document **written; /* as they are in the file */
	size_t n_written;
};

/* The file's name in messages: its path, or "standard input". NULL: the command line has none. */
const char *job_documents_name(const struct options *options);
/* Prints faults of the file, with their places. */
void job_documents_print_errors(const struct options *options, const struct faults *faults);

/* Reads the file as it is written. Errors become lines of `faults`; false then. */
bool job_documents_open(struct job_documents *documents, struct text *faults) MUST_USE;
/* Makes the list of the opened documents. False on an error: faults of a template are printed,
 * others are in `faults`. */
bool job_documents_make(struct job_documents *documents, struct text *faults) MUST_USE;
/* Rejects such values on a command line that does not use them; `with` names the option that they
 * need. */
void job_documents_refuse_values(const struct options *options, const char *with,
				 struct text *faults);
void job_documents_done(struct job_documents *documents);

/* A lone document counts as a job, whatever kind it has: its reader reports what it lacks. */
bool job_documents_is_job(const struct job_documents *documents, size_t index);
size_t job_documents_count_jobs(const struct job_documents *documents);
/* The one TFJob; NULL if there is none or more than one, which becomes a line of `faults`. Other
 * documents of the file are reported. */
const struct document *job_documents_choose(const struct job_documents *documents,
					    struct text *faults);

/* The rows of the values for a template's parameters, for a command's table. */
#define TEMPLATE_VALUE_ROWS                                                                        \
	OPTION("param", LIST, "NAME=VALUE", NULL, "set a parameter of the Template in -f",         \
	       .letter = 'p', .group = OPTIONS_OF_JOB, .hides_values = true),                      \
		OPTION("param-file", LIST, "FILE", NULL,                                           \
		       "set parameters from a file with lines NAME=VALUE",                         \
		       .group = OPTIONS_OF_JOB)
