/* The Pod of a replica that a person has named, on the cluster of a call, and the way to it. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "cli/copy_place.h"
#include "command/options.h"
#include "io/loop.h"
#include "pods/exec.h"

/* Zero it to begin. */
struct replica_pod {
	const struct copy_place *place; /* borrowed */
	struct loop *loop;
	struct kube_api *api;
	char *namespace_name;
	char *name;
	struct json *object;
	struct kube_container container; /* that was asked for, or chosen; borrows from here */
};

/* Makes the loop and logs in to the cluster that the options choose, and warns of what is not safe
 * about it. `options` lives as long as it. */
int replica_pod_connect(const struct options *options, const struct copy_place *place,
			struct replica_pod *pod, struct err *err) MUST_USE;
/* Asks for the Pod, again whenever it is called, and runs the loop for that. `container`: NULL as
 * kube/fetch_sidecar.h chooses. ERR_NOT_FOUND: there is no such Pod, or it is none of the job's. */
int replica_pod_find(struct replica_pod *pod, const char *container, struct err *err) MUST_USE;
/* Whatever uses the loop and the API has ended before. */
void replica_pod_done(struct replica_pod *pod);
