/* `muster operator`, in the program for clusters. */
#pragma once

#include "command/options.h"

/* Runs until a signal asks it to stop; returns the exit code. */
int operator_on_cluster(const struct options *options);
