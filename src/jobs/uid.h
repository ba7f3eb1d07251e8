/* A uid for a job that no other job will ever have. */
#pragma once

#include "base/own.h"
#include "spec/job.h"

/* A random UUID (RFC 4122, section 4.4); caller frees. */
char *job_uid_new(void) MUST_USE;
void job_uid_set_new(struct job *job);
