/* When a finished job is to be deleted (ttlSecondsAfterFinished). */
#pragma once

#include "base/msec.h"
#include "spec/job.h"
#include "status/status.h"

/* The moment; MSEC_NEVER for a job that is kept, that has not finished, or that is suspended:
 * training-operator skips the time to live while a job is, which is how its users keep one. */
msec expiry_of_job(const struct job *job, const struct status *status);
