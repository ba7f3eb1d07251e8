/* Which lines `muster logs` is asked for, and whether a job has logs to look for them in. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "logs/reader.h"
#include "spec/job.h"

#include <stdbool.h>

/* --role, --index … --grep; its texts are those of the options. ERR_INVALID. */
int log_selection_read(const struct options *options, struct log_selection *ret_selection,
		       struct err *err) MUST_USE;

/* Reads "worker-0": what stands behind a job and is a replica of it. Any other word is a job, and
 * so is local/worker-0. */
bool log_selection_read_replica(const char *word, struct log_name *ret_name);

/* What there is of a job's logs. Borrowed. */
struct logs_there {
	const char *name; /* of the job, as errors call it */
	const struct job *job;
	const char *folder;
	bool is_over; /* nothing will be written any more */
	bool is_fetched; /* only what was asked for is in the folder */
	bool is_followed; /* so a log that is wanted may come yet */
};

/* ERR_NOT_FOUND, with what there is instead, when nothing that is asked for is there or may come.
 */
int log_selection_check(const struct log_selection *selection, const struct logs_there *there,
			struct err *err) MUST_USE;
