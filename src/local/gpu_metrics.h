/* What the GPUs of a job do, as metrics (status/metrics.h). A process of its own asks the driver
 * every few seconds, from the first call on: the driver may hang, and takes seconds for its first
 * answer. */
#pragma once

#include "base/text.h"
#include "io/loop.h"
#include "spec/job.h"
#include "status/status.h"

struct gpu_metrics;

struct gpu_metrics *gpu_metrics_new(struct loop *loop) MUST_USE;
void gpu_metrics_free(struct gpu_metrics *metrics); /* NULL is fine */

/* Appends the last values of the GPUs of running replicas; nothing if the job has no GPU, or the
 * driver has not answered for half a minute. */
void gpu_metrics_write(struct gpu_metrics *metrics, const struct job *job,
		       const struct status *status, struct text *text);
