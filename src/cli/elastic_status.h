/* `muster status --rdzv-endpoint`: an elastic job across its machines, as its server reports it. */
#pragma once

#include "cli/rendezvous_endpoint.h"
#include "command/options.h"

/* The job of the argument, or all jobs of the server. Returns the exit code. */
int elastic_status(const struct options *options);

#define ELASTIC_STATUS_ROWS                                                                        \
	OPTION("rdzv-endpoint", TEXT, "HOST[:PORT]", NULL,                                         \
	       "show elastic jobs of this rendezvous server, across machines"),                    \
		RENDEZVOUS_TRUST_ROWS
