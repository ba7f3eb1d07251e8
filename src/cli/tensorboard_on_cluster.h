/* TensorBoard on the log directory of a Pod, for the program for clusters. */
#pragma once

#include "cli/tensorboard.h"

/* At each interval, copies what is new in the directory (pods/append_sync.h) into a temporary
 * directory of this machine, and shows that. Prints every error, and returns the exit code. A Pod
 * that cannot be reached at the start is an error. Later it is searched at each interval, since a
 * restart gives its name to another Pod, and the copied files stay visible. */
int tensorboard_on_cluster(const struct tensorboard_call *call);
