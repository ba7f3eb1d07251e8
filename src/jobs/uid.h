/* A uid for a job that no other job will ever have. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "spec/job.h"

/* A random UUID; caller frees. */
int job_uid_new(char **ret_uid, struct err *err) MUST_USE;
/* Sets a random UUID by RFC 4122, section 4.4. */
int job_uid_set_new(struct job *job, struct err *err) MUST_USE;
