/* When a finished job is to be deleted (ttlSecondsAfterFinished). */
#pragma once

#include "base/msec.h"
#include "spec/job.h"
#include "status/status.h"

/* The time of deletion; MSEC_NEVER if the job is kept, is not finished, or is suspended.
 * training-operator ignores the time to live of a suspended job, so its users keep jobs that
 * way. */
msec expiry_of_job(const struct job *job, const struct status *status);
