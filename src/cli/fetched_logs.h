/* Logs of a job on a cluster that no muster process of this machine stores: fetched into a
 * temporary directory for one call. */
#pragma once

#include "base/err.h"
#include "cli/lookup.h"
#include "jobs/client.h"

/* Creates a new directory of that name and random characters in $TMPDIR or /tmp. Caller frees. */
int temporary_folder_create(const char *name, char **ret_path, struct err *err) MUST_USE;

struct fetched_logs {
	struct client *client;
	struct client_logs *logs;
	char *folder; /* NULL: nothing was fetched */
	bool is_over;
	int signal_number; /* that asked this process to stop; 0: none */
};

/* Creates the directory and starts to fetch; the request lacks only the directory. */
int fetched_logs_begin(struct fetched_logs *fetched, const struct found_job *job,
		       struct client_logs_request request, struct err *err) MUST_USE;
/* The same, and runs the loop until all was fetched, or a signal came. */
int fetched_logs_get(struct fetched_logs *fetched, const struct found_job *job,
		     struct client_logs_request request, struct err *err) MUST_USE;
/* As client_functions.logs_known_until. */
msec fetched_logs_known_until(const struct fetched_logs *fetched);
/* Deletes the directory too. */
void fetched_logs_done(struct fetched_logs *fetched);
