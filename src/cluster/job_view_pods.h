/* What a client shows of a Pod, and how the Pod changes the replica in a job's status. Pure. */
#pragma once

#include "base/mem.h"
#include "kube/job_pod.h"
#include "spec/job.h"
#include "status/status.h"

/* Adds the replicas to the status of an untouched job; none of them has been started. Their roles
 * are borrowed from the job. */
void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status);

/* Sets the replica of this Pod, in the same attempt, to where the Pod is and what blocks it; and
 * its state, unless its exit is already recorded. The texts are borrowed from the Pod. */
void job_view_pod_lay_over(const struct job_pod *pod, struct replica_status *replica);
