/* The PodGroup of a TFJob, by which a scheduler places all its Pods or none, in the forms of three
 * schedulers:
 * - Volcano, and scheduler-plugins' coscheduling, as training-operator 1.9 creates them (section
 *   2.7 of what was recorded of 1.9.4);
 * - Kubernetes' own (KEP-4671; scheduling.k8s.io/v1alpha2 of 1.36, behind its gates), whose
 *   PodGroups are immutable.
 *
 * The result depends only on the job and on the observed PodGroup. */
#pragma once

#include "base/json.h"
#include "kube/request.h"
#include "spec/job.h"

enum gang_kind {
	GANG_NONE,
	GANG_VOLCANO, /* "volcano" */
	GANG_KUBERNETES, /* "kubernetes" */
	GANG_SCHEDULER_PLUGINS, /* any other name: the scheduler's name */
};

struct gang {
	enum gang_kind kind;
	const char *scheduler; /* for Pods whose template names none; NULL: the default. Borrowed */
};

/* The gang of --gang-scheduler-name, which is borrowed. NULL and "": none. */
struct gang gang_of(const char *scheduler_name) MUST_USE;
/* The resource of its PodGroups; NULL: there are none. */
const struct kube_resource *gang_resource(const struct gang *gang);

/* The PodGroup with the name of the job. */
struct json *pod_group_new(const struct gang *gang, const struct job *job,
			   const char *owner_uid) MUST_USE;
/* Adds this Pod to the group. */
void pod_group_add_pod(const struct gang *gang, const struct job *job, const struct role *role,
		       struct json *pod);
/* A merge patch that turns the observed PodGroup into the wanted one. NULL: they agree, or it is
 * immutable. A queue that a user set is kept. */
struct json *pod_group_patch_new(const struct gang *gang, const struct json *wanted,
				 const struct json *seen) MUST_USE;
/* Whether Pods may be created. Volcano first decides whether the queue has room. */
bool pod_group_is_admitted(const struct gang *gang, const struct json *seen);
/* Whether a template names another scheduler, which its Pods then keep. */
bool pod_group_has_stranger(const struct gang *gang, const struct job *job);
