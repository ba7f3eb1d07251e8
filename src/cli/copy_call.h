/* A copy between this machine and a Pod of a job, for the program for clusters. */
#pragma once

#include "cli/copy_place.h"
#include "command/options.h"

#include <stdbool.h>

struct copy_call {
	const struct options *options; /* these select the cluster */
	const struct copy_place *place; /* the path in the job */
	const char *container; /* NULL: as kube/fetch_sidecar.h chooses */
	const char *here;
	bool is_to_pod;
	bool is_fetch; /* reports what was copied; it is an error if nothing was */
};

/* Copies, prints every error, and returns the exit code. On a terminal a line shows the
 * progress. */
int copy_call_run(const struct copy_call *call);
