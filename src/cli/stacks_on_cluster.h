/* The Python stacks of a job's Pods, read by the py-spy of their containers; for the program that
 * speaks to clusters. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "command/options.h"
#include "spec/job.h"
#include "status/stacks.h"
#include "status/status.h"

#include <stddef.h>

struct stacks_on_cluster_call {
	const struct options *options; /* which choose the cluster */
	const char *namespace_name;
	const struct job *job;
	const struct replica_status *const *replicas; /* with a Pod that runs */
	size_t n_replicas;
	struct arena *arena; /* of what the stacks point to */
};

/* Adds the stacks, or for a replica what stands in their way, in the order of the replicas. Runs a
 * loop of its own until all have answered. The errors of kube_api_connect; or of one Pod, when all
 * have failed: ERR_UNSUPPORTED: there is no py-spy; those of kube_exec_new. */
int stacks_on_cluster(const struct stacks_on_cluster_call *call, struct stacks *stacks,
		      struct err *err) MUST_USE;
