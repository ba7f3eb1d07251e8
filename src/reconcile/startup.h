/* How far the start of a job's Pods has come: created, scheduled on a node, set up on it (volumes,
 * network and all else that the container needs except its image), running. A cluster does not
 * report that an image was pulled: a Pod that is set up but not running mostly waits for that. */
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

/* Adds `change` (1 or -1) to the counts of the replica's stages; set up includes scheduled. */
void startup_add(struct startup *startup, const struct observed_replica *replica, int change);

/* Appends "4 Pods: 4 scheduled, 3 set up, 1 running". */
void startup_describe(const struct startup *startup, struct text *text);

/* Whether all replicas have a Pod that runs or has run. */
bool startup_is_over(const struct startup *startup, int n_replicas);
