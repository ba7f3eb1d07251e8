/* Logs of a job on a cluster that no muster of this machine keeps: fetched into a folder of their
 * own for one call, and gone with it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "jobs/client.h"

#include <stdbool.h>

struct fetched_logs {
	struct client *client;
	struct client_logs *logs;
	char *folder; /* NULL: nothing was fetched */
	bool is_over;
	int signal_number; /* that asked us to end; 0: none */
};

/* Makes the folder and begins; the request lacks the folder only. */
int fetched_logs_begin(struct fetched_logs *fetched, struct client *client, const char *name,
		       struct client_logs_request request, struct err *err) MUST_USE;
/* The same, and runs the loop until all is there, or a signal came. */
int fetched_logs_get(struct fetched_logs *fetched, struct client *client, const char *name,
		     struct client_logs_request request, struct err *err) MUST_USE;
/* As client_functions.logs_known_until. */
msec fetched_logs_known_until(const struct fetched_logs *fetched);
/* With the folder. */
void fetched_logs_done(struct fetched_logs *fetched);
