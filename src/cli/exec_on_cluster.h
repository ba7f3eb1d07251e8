/* A command in a job's Pod, for the program that speaks to clusters. */
#pragma once

#include "cli/copy_place.h"
#include "command/options.h"

#include <stdbool.h>

struct exec_call {
	const struct options *options; /* which choose the cluster */
	const struct copy_place *place; /* the replica; its path is not looked at */
	const char *container; /* NULL: as kube/fetch_sidecar.h chooses */
	const char *const *command; /* ends with NULL */
	bool has_input;
	bool is_terminal; /* which standard input is one of */
};

/* Runs it, with what is read and written here, until it ends or a signal ends this; tells what goes
 * wrong, and gives the exit code: the command's, 126 when it could not be run, 125 when nobody
 * knows.
 */
int exec_on_cluster(const struct exec_call *call);
