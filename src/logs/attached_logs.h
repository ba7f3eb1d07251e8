/* The logs of a job that a user attaches to.
 *
 * The cluster sends the log of each Pod from its beginning. The job's directory on this machine may
 * already contain the same lines, and another process may still write into it. So an attached
 * muster process stores logs in its own subdirectory; they replace the earlier ones only if it has
 * supervised the job. Logs of deleted Pods stay. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* Creates the subdirectory in that of the job. Caller frees the path. */
int attached_logs_create(const char *job_folder, char **ret_folder, struct err *err) MUST_USE;
/* Deletes the subdirectory; `is_kept`: its files first replace those of the same names. */
void attached_logs_end(const char *job_folder, const char *folder, bool is_kept);
