/* A replica as its Pod shows it: what a decision wants to know, out of what a cluster says. Pure.
 *
 * The container that trains decides, not the Pod: another one beside it that never ends does not
 * hold the job up. Reasons are Kubernetes' own words ("OOMKilled", "Unschedulable"), messages are
 * sentences.
 * Sources: k8s.io/api/core/v1/types.go (PodStatus, ContainerState, DisruptionTarget),
 * pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go (why a container waits). */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "core/job.h"
#include "core/observed.h"

#include <stdbool.h>

/* Reads a Pod; what *ret_replica points to lives in the arena. False for a Pod that is no replica
 * of this job: without our labels, or with another owner than the one whose uid is job->uid, as one
 * left by an earlier job of the same name.
 *
 * A replica that starts has a reason and a message where something stands in its way; it may still
 * go away by itself. One that the shell's convention (128 + n) says died of a signal has the
 * signal. */
bool pod_observed_read(const struct json *pod, const struct job *job, struct arena *arena,
		       struct observed_replica *ret_replica) MUST_USE;
/* The same for who looks at a job. Of one that is untouched, which means that nobody has acted for
 * it and it may have been applied as `render` shows it, Pods without any owner are its own too
 * (kube/orphans.h). */
bool pod_observed_look(const struct json *pod, const struct job *job, bool is_untouched,
		       struct arena *arena, struct observed_replica *ret_replica) MUST_USE;
