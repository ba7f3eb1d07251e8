/* The file for a replica's output that the user named, "logs/%j-%t.out", in the style of Slurm
 * (sbatch(1), "filename pattern"). %j and %x are the job's name, %t is the replica's ("worker-0"),
 * and %% is a percent sign. In patterns that muster makes, %i is the replica's index, and %g the
 * generation of an elastic job, which torchrun counts from 0. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* The pattern of `path`: a directory, whose files are named %t.log, unless its last part has %t.
 * The caller frees it. ERR_INVALID: it is empty, or another letter follows a %. */
int output_path_read(const char *path, char **ret_pattern, struct err *err) MUST_USE;
/* The path of a pattern for one replica; the caller frees it. */
char *output_path_of(const char *pattern, const char *job, const char *role, int index,
		     int attempt) MUST_USE;
/* Whether each attempt has its own file. */
bool output_path_names_attempt(const char *pattern);
