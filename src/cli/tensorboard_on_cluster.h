/* TensorBoard on the log folder of a Pod, for the program that speaks to clusters. */
#pragma once

#include "cli/tensorboard.h"

/* Brings what is new in the folder here at each interval (pods/append_sync.h), into a folder that
 * goes with this call, and shows that; tells every mistake, and gives the exit code. A Pod that
 * cannot be reached to begin with is one; later it is looked for at each interval, since a restart
 * gives its name to another Pod, and what came stays to be seen. */
int tensorboard_on_cluster(const struct tensorboard_call *call);
