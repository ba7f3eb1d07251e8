/* The files into which the processes of a job write their stacks and their progress.
 *
 * ROLE-INDEX.ATTEMPT.stacks in the job's directory contains the last answer of a Python process
 * (status/stacks.h). A sitecustomize makes it write that. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

/* Caller frees. */
char *stacks_file_path(const char *job_folder, const char *role, int index, int attempt) MUST_USE;
/* The contents of such a file, for the caller to free; NULL if it cannot be read. */
char *stacks_file_text(const char *path) MUST_USE;

/* Writes the sitecustomize, and returns its directory, STATE/programs/stacks, for PYTHONPATH; the
 * caller frees it. ERR_IO or ERR_SPACE; ERR_INVALID for a path that PYTHONPATH cannot name. */
int stacks_hook_install(const char *state_folder, char **ret_folder, struct err *err) MUST_USE;

extern const char stacks_hook[]; /* python/muster_stacks/sitecustomize.py */
extern const size_t stacks_hook_size;

/* Reads the step that a training process has reached from the file that MUSTER_PROGRESS_FILE names:
 * a decimal number, optionally followed by white space. 0: the file does not exist, is no regular
 * file, or does not contain a number from 1 to LIMIT_STEP. */
int64_t progress_file_read(const char *path);
