/* A replica as its Pod shows it: what a decision wants to know, out of what a cluster says. Pure.
 *
 * The container that trains decides, not the Pod: another one beside it that never ends does not
 * hold the job up. Only a TFJob's replica that succeeds waits for them. Reasons are Kubernetes' own
 * words ("OOMKilled", "Unschedulable"), messages are sentences. Sources:
 * k8s.io/api/core/v1/types.go (PodStatus, ContainerState, DisruptionTarget),
 * pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go (why a container waits). */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "reconcile/observed.h"

#include <stdbool.h>

/* Reads a Pod; what *ret_replica points to lives in the arena. False for a Pod that is no replica
 * of any job: without our labels. Whose it is says kube/job_pod.h.
 *
 * A replica that starts has a reason and a message where something stands in its way; it may still
 * go away by itself. One that the shell's convention (128 + n) says died of a signal has the
 * signal. */
bool pod_observed_read(const struct json *pod, struct arena *arena,
		       struct observed_replica *ret_replica) MUST_USE;
/* The container that trains: the one of that name in the Pod (pod_template_container). Borrowed. */
const char *pod_observed_container(const struct json *pod);
