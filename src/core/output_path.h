/* The file of a replica's output that a person named, "logs/%j-%t.out", as Slurm names such files
 * (sbatch(1), "filename pattern"): %j and %x are the job's name, %t is the replica's ("worker-0"),
 * and %% is a percent sign. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* What `path` stands for: a folder, whose files are named %t.log, unless its last part has %t. The
 * caller frees it. ERR_INVALID: it is empty, or another letter follows a %. */
int output_path_read(const char *path, char **ret_pattern, struct err *err) MUST_USE;
/* A pattern of the above for one replica; the caller frees the path. */
char *output_path_of(const char *pattern, const char *job, const char *role, int index) MUST_USE;
