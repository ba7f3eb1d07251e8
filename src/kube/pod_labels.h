/* Which replica of which job the labels of a Pod say that it is.
 *
 * Jobs of `run --on kubernetes` have labels of ours beside Kubeflow's; those of a TFJob object have
 * Kubeflow's alone, as training-operator 1.9 gives them, and say their attempt in an annotation: a
 * Pod without one is of the first attempt, or was started by that operator. */
#pragma once

#include "base/json.h"

#include <stdbool.h>

/* Kubeflow's labels, apiVersion kubeflow.org/v1. */
#define KUBEFLOW_LABEL(name) "training.kubeflow.org/" name
#define KUBEFLOW_LABEL_OPERATOR KUBEFLOW_LABEL("operator-name")
#define KUBEFLOW_OPERATOR "tfjob-controller"
#define KUBEFLOW_LABEL_JOB KUBEFLOW_LABEL("job-name")
#define KUBEFLOW_LABEL_ROLE KUBEFLOW_LABEL("replica-type")
#define KUBEFLOW_LABEL_INDEX KUBEFLOW_LABEL("replica-index")
#define POD_ANNOTATION_ATTEMPT "muster/attempt"

/* As they stand there, borrowed; NULL: not there. */
struct pod_labels {
	const char *job, *role, *index, *attempt;
};

bool pod_labels_are_of_tfjob(const struct json *metadata);
struct pod_labels pod_labels_of(const struct json *metadata);
/* The name of its job alone, of any kind of object; NULL: none. */
const char *pod_labels_job(const struct json *metadata);
