/* Whether a process of this machine copies the logs of a job on a cluster into the job's directory.
 * It holds a lock (flock) on the directory, which ends with the process in any case. So a process
 * that finds the lock taken can rely on the files to grow. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

/* Takes the lock until the descriptor is closed; -1 if that is not possible: then other processes
 * copy the logs for themselves. */
int log_folder_lock(const char *folder) MUST_USE;
bool log_folder_is_locked(const char *folder);
