/* Finds out which replicas of a job have a process that is stopped: what explains a silence. */
#pragma once

#include "base/own.h"
#include "core/status.h"

#include <stdbool.h>

typedef void (*check_stopped_fn)(const char *replica, bool is_stopped, void *data);

/* Tells of each replica that runs on this machine, "ps-1". */
void check_each_stopped(const struct status *status, check_stopped_fn tell, void *data);
