/* Whether a process of this machine brings the logs of a job on a cluster into the job's folder.
 *
 * It holds a lock (flock) on the folder, which goes with it however it ends; so a process that
 * finds the lock taken can rely on the files to grow. */
#pragma once

#include "base/own.h"

#include <stdbool.h>

/* Takes the lock for as long as the descriptor is open; -1 where that cannot be: others will bring
 * the logs for themselves. */
int log_folder_lock(const char *folder) MUST_USE;
bool log_folder_is_locked(const char *folder);
