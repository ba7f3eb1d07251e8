/* A copy between this machine and a Pod of a job, for the program that speaks to clusters. */
#pragma once

#include "cli/copy_place.h"
#include "command/options.h"

#include <stdbool.h>

struct copy_call {
	const struct options *options; /* which cluster */
	const struct copy_place *place; /* in the job */
	const char *container; /* NULL: as kube/fetch_sidecar.h chooses */
	const char *here;
	bool is_to_pod;
	bool is_fetch; /* says what came, which has to be something */
};

/* Copies, tells every mistake, and gives the exit code. On a terminal a line shows how far it is.
 */
int copy_call_run(const struct copy_call *call);
