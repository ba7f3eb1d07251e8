/* The PodGroup of a TFJob, by which a scheduler places its Pods together or not at all, in the
 * forms of three schedulers:
 *
 * - Volcano, and scheduler-plugins' coscheduling, as training-operator 1.9 makes them (section 2.7
 *   of what was recorded of 1.9.4);
 * - Kubernetes' own (KEP-4671; scheduling.k8s.io/v1alpha2 of 1.36, behind its gates), whose
 *   PodGroups nobody can change.
 *
 * All of it follows from the job alone, and from what is seen of the PodGroup. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "kube/request.h"
#include "spec/job.h"

#include <stdbool.h>

enum gang_kind {
	GANG_NONE,
	GANG_VOLCANO, /* "volcano" */
	GANG_KUBERNETES, /* "kubernetes" */
	GANG_SCHEDULER_PLUGINS, /* any other name, which is that of the scheduler */
};

struct gang {
	enum gang_kind kind;
	const char *scheduler; /* of Pods whose template names none; NULL: the cluster's. Borrowed
				*/
};

/* Of --gang-scheduler-name, which is borrowed; NULL and "" are none. */
struct gang gang_of(const char *scheduler_name) MUST_USE;
/* Its PodGroups; NULL: there are none. */
const struct kube_resource *gang_resource(const struct gang *gang);

/* The PodGroup, of the name of the job. */
struct json *pod_group_new(const struct gang *gang, const struct job *job,
			   const char *owner_uid) MUST_USE;
/* Makes this Pod one of the group. */
void pod_group_add_pod(const struct gang *gang, const struct job *job, const struct role *role,
		       struct json *pod);
/* A merge patch that makes what is seen of a PodGroup what it is to be; NULL: it is, or cannot be
 * changed. A queue that somebody gave it stays. */
struct json *pod_group_patch_new(const struct gang *gang, const struct json *wanted,
				 const struct json *seen) MUST_USE;
/* Whether Pods may be made. Volcano is asked first whether there is room in the queue. */
bool pod_group_is_admitted(const struct gang *gang, const struct json *seen);
/* A template names another scheduler, which its Pods then have. */
bool pod_group_has_stranger(const struct gang *gang, const struct job *job);
