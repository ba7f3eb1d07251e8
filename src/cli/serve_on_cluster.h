/* `muster serve`, for the program for clusters. */
#pragma once

#include "command/options.h"

/* Runs until a signal asks it to stop; returns the exit code. */
int serve_on_cluster(const struct options *options);
