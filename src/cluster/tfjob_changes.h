/* A client's (cluster/client.h) changes of a TFJob object, which an operator manages: muster's
 * (operator/operator.h), or training-operator. Changes are patches of the object, as kubectl makes
 * them; the operator acts on them. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "cluster/job_view.h"
#include "kube/api.h"

#include <stdbool.h>

/* The connection and the namespace; all is borrowed. */
struct tfjob_place {
	struct kube_api *api; /* its loop is not running */
	const char *namespace_name;
	const char *choice; /* options that select the cluster, for hints: spec/job.h */
};

/* Whether the job of a synced view may still change. A finished job keeps the Pods that its
 * cleanPodPolicy leaves; they are not waited for. */
bool tfjob_may_change(const struct job_view *view);

/* As patch, stop and remove of jobs/client.h; remove returns before the Pods have exited. */
int tfjob_patch(const struct tfjob_place *place, const struct job_view *view,
		const struct json *patch, struct err *err) MUST_USE;
int tfjob_stop(const struct tfjob_place *place, const struct job_view *view, const char *reason,
	       msec grace, struct err *err) MUST_USE;
int tfjob_remove(const struct tfjob_place *place, const struct job_view *view,
		 struct err *err) MUST_USE;
