/* The recorded jobs of this machine. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "jobs/client.h"

/* The directory of the records: --state-dir, else that of jobs/state_folder.h. Caller frees.
 * ERR_NOT_FOUND when there is no home directory. */
int local_jobs_folder(const struct options *options, char **ret_folder, struct err *err) MUST_USE;

/* A client for the jobs of this machine alone, freed by local_jobs_close. */
int local_jobs_open(const struct options *options, struct client **ret_client,
		    struct err *err) MUST_USE;
/* The same in this directory, or that of the options (NULL). ERR_NOT_FOUND: the directory does not
 * exist; it is not created. */
int local_jobs_open_existing(const struct options *options, const char *folder,
			     struct client **ret_client) MUST_USE;
void local_jobs_close(struct client **client);
