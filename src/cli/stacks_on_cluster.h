/* The Python stacks of a job's Pods, read by the py-spy of their containers; for the program for
 * clusters. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "command/options.h"
#include "spec/job.h"
#include "status/stacks.h"
#include "status/status.h"

#include <stddef.h>

struct stacks_on_cluster_call {
	const struct options *options; /* these select the cluster */
	const char *namespace_name;
	const struct job *job;
	const struct replica_status *const *replicas; /* with a running Pod */
	size_t n_replicas;
	struct arena *arena; /* for the texts of the stacks */
};

/* Adds the stacks, or for a replica the reason why they could not be read, in the order of the
 * replicas. Runs its own loop until all have answered. The errors of kube_api_connect. If all Pods
 * have failed, the error of one: ERR_UNSUPPORTED without py-spy, or those of kube_exec_new. */
int stacks_on_cluster(const struct stacks_on_cluster_call *call, struct stacks *stacks,
		      struct err *err) MUST_USE;
