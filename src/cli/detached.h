/* What is said of a job that goes on behind us. */
#pragma once

#include "command/options.h"

/* Its name on stdout, or with --output the whole of it; and how to see more of it. The namespace is
 * NULL for a job of this machine. Gives the exit code. */
int detached_report(const struct options *options, const char *namespace_name, const char *name);
