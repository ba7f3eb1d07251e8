/* What tf-spawner does on a cluster: it makes objects, deletes them by their label, and leaves.
 *
 * Only muster-kubernetes can; `muster` hands over to it before it comes to that. */
#pragma once

#include "base/json.h"
#include "command/options.h"

/* NULL in `muster`. `old` are the options of the old command line, which choose the cluster and the
 * namespace. Each gives the exit code. */
struct tf_spawner_cluster {
	/* Makes the objects of kube/tf_spawner.h, unless there are some with this tag; all of them
	 * or none: what was made goes when one cannot be made. */
	int (*create)(const struct options *old, const char *tag, const struct json *objects);
	/* Asks whether to, deletes what has the label, and waits until it is gone. */
	int (*remove)(const struct options *old, const char *tag);
};
extern const struct tf_spawner_cluster *const tf_spawner_cluster;
