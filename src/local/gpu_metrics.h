/* What the GPUs of a job do, as metrics (status/metrics.h). */
#pragma once

#include "base/text.h"
#include "spec/job.h"
#include "status/status.h"

/* Asks the driver, which takes a fraction of a second, and appends the values of the GPUs of
 * running replicas; nothing if the job has no GPU. False: the driver did not answer for 15 s or
 * failed, so it should not be asked again. */
bool gpu_metrics_write(const struct job *job, const struct status *status,
		       struct text *text) MUST_USE;
