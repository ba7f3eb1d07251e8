/* The stored part of a Pod of a job: its replica, its state and its owner. Pure.
 *
 * The training container decides, not the Pod: a sidecar that never exits does not delay the job.
 * Only a succeeding replica of a TFJob waits for its other containers. Reasons are Kubernetes'
 * words ("OOMKilled", "Unschedulable"), messages are sentences. Sources:
 * k8s.io/api/core/v1/types.go (PodStatus, ContainerState, DisruptionTarget),
 * pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go (why a container waits). */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "reconcile/plan.h"

struct job_pod {
	struct arena *arena; /* owns the struct and all its texts */
	const char *name, *uid;
	const char *job_name; /* from its labels */
	const char *owner_uid; /* of its owner, the job's ConfigMap or TFJob; NULL: none */
	const char *ip; /* NULL: none yet */
	const char *container; /* the training container */
	int n_restarts; /* of that container in this Pod */
	int64_t version; /* 0: not a number */
	/* A starting replica has a reason and a message if something blocks it; the obstacle may be
	 * temporary. An exit code of 128 + n, as shells have it, sets the signal. */
	struct observed_replica seen;
};

/* Parses a Pod. Returns NULL if it lacks the labels of a replica of a job. The caller frees it. */
struct job_pod *job_pod_read(const struct json *object) MUST_USE;
void job_pod_free(struct job_pod *pod); /* NULL is fine */
/* Sets what blocks it, from elsewhere than the Pod; of the message only its first line. */
void job_pod_set_reason(struct job_pod *pod, const char *reason, const char *message);

/* Whether an observed object is a Pod of the job, by its labels and by its owner, the job's
 * ConfigMap or TFJob, with this uid. NULL: the uid is unknown. Then the owner's name counts, which
 * the cluster compares with the uid, and a Pod of `run --on kubernetes` without an owner also
 * belongs to the job. A user who may create Pods can forge such a Pod. */
bool job_pod_is_in(const struct json *object, const char *job_name, const char *job_uid);

/* Whether the Pod belongs to the job whose ConfigMap has this uid, not to an earlier job of its
 * name. A job is untouched if no supervisor has acted for it, so it may have been applied from the
 * output of `render`. Then Pods without an owner belong to it too (cluster/client.c). */
bool job_pod_is_of(const struct job_pod *pod, const char *job_uid, bool is_untouched);
