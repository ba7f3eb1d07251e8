/* The privileges of a job's Pods beyond computing. These are what Pod Security's level `baseline`
 * rejects; and what that level permits although it uses permissions of the user who creates the
 * Pod: service accounts, Secrets, volumes with others' data, the node, and every field that is not
 * known to be harmless. */
#pragma once

#include "base/text.h"
#include "spec/job.h"

/* Adds each privilege on its own line, once for all roles; nothing without any. The Secret of the
 * job's own variables (spec/job_secret.h) does not count. */
void pod_privileges_describe(const struct job *job, struct text *lines);
