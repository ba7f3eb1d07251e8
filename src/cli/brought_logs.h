/* Logs of a job on a cluster that no muster of this machine keeps: brought into a folder of their
 * own for one call, and gone with it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "engine/client.h"

#include <stdbool.h>

struct brought_logs {
	struct client *client;
	struct client_logs *logs;
	char *folder; /* NULL: nothing was brought */
	bool is_over;
	int signal_number; /* that asked us to end; 0: none */
};

/* Makes the folder and begins; the request lacks the folder only. Where it does not follow, it
 * returns when all is there, or a signal came. */
int brought_logs_begin(struct brought_logs *brought, struct client *client, const char *name,
		       struct client_logs_request request, struct err *err) MUST_USE;
/* With the folder. */
void brought_logs_done(struct brought_logs *brought);
