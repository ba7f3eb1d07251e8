/* A command in a job's Pod, for the program for clusters. */
#pragma once

#include "cli/copy_place.h"
#include "command/options.h"

#include <stdbool.h>

struct exec_call {
	const struct options *options; /* these select the cluster */
	const struct copy_place *place; /* the replica; its path is ignored */
	const char *container; /* NULL: as kube/fetch_sidecar.h chooses */
	const char *const *command; /* ends with NULL */
	bool has_input;
	bool is_terminal; /* standard input is a terminal */
};

/* Runs the command, connected to our standard streams, until it exits or a signal ends this call.
 * Prints errors, and returns the exit code: the command's, 126 when it could not be run, 125 when
 * its code is unknown. */
int exec_on_cluster(const struct exec_call *call);
