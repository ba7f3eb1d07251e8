/* What the Pods of a job may do beyond computing: what Pod Security's level `baseline` refuses, and
 * what it lets pass though it is a right of the user that makes the Pod: service accounts, Secrets,
 * volumes that hold others' data, the node, and every field that is not known to be harmless. */
#pragma once

#include "base/text.h"
#include "spec/job.h"

/* Adds each thing on a line of its own, once for all roles; nothing where there is none. The Secret
 * of the job's own variables (spec/job_secret.h) is none. */
void pod_privileges_describe(const struct job *job, struct text *lines);
