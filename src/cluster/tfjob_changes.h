/* What a client (cluster/client.h) does to a TFJob object, which an operator serves: muster's
 * (operator/operator.h), or training-operator. Changes are patches of the object, as kubectl makes
 * them; the operator sees to the rest. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "cluster/job_view.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>

/* Whose TFJobs; all is borrowed. */
struct tfjob_place {
	struct loop *loop; /* not running */
	struct kube_api *api;
	const char *namespace_name;
	const char *choice; /* options that lead to the cluster, for hints: spec/job_words.h */
};

/* Of a view that is synced: more of the job may change. One that has ended keeps what its
 * cleanPodPolicy leaves, and that is waited for no more. */
bool tfjob_may_change(const struct job_view *view);

/* As patch, stop and remove of jobs/client.h; remove returns while its Pods still end. */
int tfjob_patch(const struct tfjob_place *place, const struct job_view *view,
		const struct json *patch, struct err *err) MUST_USE;
int tfjob_stop(const struct tfjob_place *place, const struct job_view *view, const char *reason,
	       msec grace, struct err *err) MUST_USE;
int tfjob_remove(const struct tfjob_place *place, const struct job_view *view,
		 struct err *err) MUST_USE;
