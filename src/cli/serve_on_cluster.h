/* `muster serve`, for the program that speaks to clusters. */
#pragma once

#include "command/options.h"

/* Until a signal asks for the end; gives the exit code. */
int serve_on_cluster(const struct options *options);
