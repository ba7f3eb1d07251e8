/* `muster render` of objects of Kubernetes. */
#pragma once

#include "cli/job_source.h"
#include "cli/options.h"

/* --as pods: what a run on Kubernetes makes of the job; gives the exit code. */
int render_pods(const struct options *options, const struct job_source *source);

/* --as k8s-tensorflow: ReplicationControllers and Services of TensorFlow servers, for which there
 * is no job; gives the exit code. */
int render_k8s_tensorflow(const struct options *options);
