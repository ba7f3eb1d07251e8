/* The message about a job that continues in the background. */
#pragma once

#include "command/options.h"

/* Prints its name on stdout, or with --output the whole job; and how to see more of it. The
 * namespace is NULL for a local job. Returns the exit code. */
int detached_report(const struct options *options, const char *namespace_name, const char *name);
