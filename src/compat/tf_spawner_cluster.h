/* The cluster operations of tf-spawner: creates objects, and deletes them by their label.
 *
 * Only muster-kubernetes has them; `muster` runs muster-kubernetes instead. */
#pragma once

#include "base/json.h"
#include "command/options.h"

/* NULL in `muster`. `old` are the options of the old command line, which select the cluster and the
 * namespace. Both functions return the exit code. */
struct tf_spawner_cluster {
	/* Creates the objects of kube/tf_spawner.h, unless some with this tag exist. If one cannot
	 * be created, the others are deleted. */
	int (*create)(const struct options *old, const char *tag, const struct json *objects);
	/* Asks for confirmation, deletes all objects with the label, and waits until they are
	 * gone. */
	int (*remove)(const struct options *old, const char *tag);
};
extern const struct tf_spawner_cluster *const tf_spawner_cluster;
