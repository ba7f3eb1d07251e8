/* The connection of a command to its cluster, and the Pod there of a replica that a user names. */
#pragma once

#include "base/json.h"
#include "cli/replica_name.h"
#include "command/options.h"
#include "io/loop.h"
#include "pods/exec.h"

/* Logs in to the cluster of the options, which must outlive the API, with a loop of its own. */
int cluster_connect(const struct options *options, struct kube_api **ret_api,
		    struct err *err) MUST_USE;

/* Zero it to begin. */
struct replica_pod {
	const struct copy_place *place; /* borrowed */
	struct kube_api *api;
	char *namespace_name;
	char *name;
	struct json *object;
	struct kube_container container; /* requested or default; borrows from this struct */
};

/* Logs in to the cluster that the options select, and warns about its unsafe
 * settings. `options` must outlive the struct. */
int replica_pod_connect(const struct options *options, const struct copy_place *place,
			struct replica_pod *pod, struct err *err) MUST_USE;
/* Reads the Pod, on every call, and runs the loop for that. `container`: NULL as
 * kube/fetch_sidecar.h chooses. ERR_NOT_FOUND: there is no such Pod, or it is not the job's. */
int replica_pod_find(struct replica_pod *pod, const char *container, struct err *err) MUST_USE;
/* First end everything that uses the API and its loop. */
void replica_pod_done(struct replica_pod *pod);
