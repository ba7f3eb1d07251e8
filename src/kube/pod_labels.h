/* Reads from the labels of a Pod which replica of which job it is.
 *
 * Jobs of `run --on kubernetes` have labels of ours in addition to Kubeflow's. Pods of a TFJob
 * object have only Kubeflow's, as training-operator 1.9 sets them, and the attempt in an
 * annotation. Without the annotation a Pod is of the first attempt, or that operator started it. */
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

/* The labels' values, borrowed; NULL: absent. */
struct pod_labels {
	const char *job, *role, *index, *attempt;
};

bool pod_labels_are_of_tfjob(const struct json *metadata);
struct pod_labels pod_labels_of(const struct json *metadata);
/* The name of the job of an object of any kind; NULL: none. */
const char *pod_labels_job(const struct json *metadata);
