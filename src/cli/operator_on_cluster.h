/* `muster operator`, in the program that speaks to clusters. */
#pragma once

#include "command/options.h"

/* Until a signal asks for the end; gives the exit code. */
int operator_on_cluster(const struct options *options);
