/* Reads the state of a replica from its Pod. Pure.
 *
 * The training container decides, not the Pod: a sidecar that never exits does not delay the job.
 * Only a succeeding replica of a TFJob waits for its other containers. Reasons are Kubernetes'
 * words ("OOMKilled", "Unschedulable"), messages are sentences. Sources:
 * k8s.io/api/core/v1/types.go (PodStatus, ContainerState, DisruptionTarget),
 * pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go (why a container waits). */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "reconcile/observed.h"

#include <stdbool.h>

/* Reads a Pod; the texts of *ret_replica are in the arena. Returns false if the Pod lacks the
 * labels of a replica. kube/job_pod.h checks its owner.
 *
 * A starting replica has a reason and a message if something blocks it; the obstacle may be
 * temporary. An exit code of 128 + n, the shell's convention for death by signal, sets the
 * signal. */
bool pod_observed_read(const struct json *pod, struct arena *arena,
		       struct observed_replica *ret_replica) MUST_USE;
/* The name of the Pod's training container (pod_template_container). Borrowed. */
const char *pod_observed_container(const struct json *pod);
