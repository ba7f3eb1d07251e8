/* The lines that `muster logs` selects, and whether a job has logs that may contain them. */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "logs/reader.h"
#include "spec/job.h"

/* Reads --role, --index … --grep; the texts are borrowed from the options. ERR_INVALID. */
int log_selection_read(const struct options *options, struct log_selection *ret_selection,
		       struct err *err) MUST_USE;

/* Reads "worker-0": a word after a job that names its replica. False: the word is a job, as
 * local/worker-0 is. */
bool log_selection_read_replica(const char *word, struct log_name *ret_name);

/* The existing logs of a job. Borrowed. */
struct logs_there {
	const char *name; /* of the job, in errors */
	const struct job *job;
	const char *folder;
	bool is_over; /* nothing more will be written */
	bool is_fetched; /* the directory has only the selected logs */
	bool is_followed; /* so a selected log may still appear */
};

/* ERR_NOT_FOUND, with a list of the existing logs, when no selected log exists or may appear. */
int log_selection_check(const struct log_selection *selection, const struct logs_there *there,
			struct err *err) MUST_USE;
