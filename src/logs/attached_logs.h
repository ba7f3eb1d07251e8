/* The logs of a job that somebody attaches to.
 *
 * The cluster gives the log of each Pod from its beginning, while a folder of the job may be here
 * already, with the same lines, and with another process that still writes there. So an attached
 * muster keeps logs in a folder of its own inside, and only when it has supervised the job they
 * take the place of those that were there. Logs of Pods that are gone stay as they are. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* Makes the folder inside that of the job. Caller frees the path. */
int attached_logs_create(const char *job_folder, char **ret_folder, struct err *err) MUST_USE;
/* The folder goes; `is_kept`: its files take the place of those of the same names. */
void attached_logs_end(const char *job_folder, const char *folder, bool is_kept);
