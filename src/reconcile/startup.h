/* How far the start of a job's Pods has come: made, placed on a node, set up there (volumes,
 * network and whatever else the container needs but its image), running. A cluster does not say of
 * a Pod that its image is there: one that is set up and does not run mostly waits for that. */
#pragma once

#include "base/text.h"
#include "reconcile/observed.h"

#include <stdbool.h>

struct startup {
	int n_pods;
	int n_scheduled;
	int n_set_up;
	int n_running; /* or ended after it had started */
};

/* Counts one more, or with a `change` of -1 one less; what is set up was placed as well. */
void startup_add(struct startup *startup, const struct observed_replica *replica, int change);

/* Adds "4 Pods: 4 scheduled, 3 set up, 1 running". */
void startup_describe(const struct startup *startup, struct text *text);

/* All Pods that there are to be run. */
bool startup_is_over(const struct startup *startup, int n_replicas);
