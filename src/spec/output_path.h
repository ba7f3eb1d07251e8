/* The file of a replica's output that a person named, "logs/%j-%t.out", as Slurm names such files
 * (sbatch(1), "filename pattern"): %j and %x are the job's name, %t is the replica's ("worker-0"),
 * and %% is a percent sign. Of patterns that muster makes, %i is the replica's index, and %g the
 * generation of an elastic job, which torchrun counts from 0. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* What `path` stands for: a folder, whose files are named %t.log, unless its last part has %t. The
 * caller frees it. ERR_INVALID: it is empty, or another letter follows a %. */
int output_path_read(const char *path, char **ret_pattern, struct err *err) MUST_USE;
/* A pattern of the above for one replica; the caller frees the path. */
char *output_path_of(const char *pattern, const char *job, const char *role, int index,
		     int attempt) MUST_USE;
/* Each attempt has a file of its own. */
bool output_path_names_attempt(const char *pattern);
