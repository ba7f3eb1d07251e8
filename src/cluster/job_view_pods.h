/* What a client shows of a Pod, and how it changes what a job's status says of the replica. Pure.
 */
#pragma once

#include "base/mem.h"
#include "kube/job_pod.h"
#include "spec/job.h"
#include "status/status.h"

/* The status of an untouched job gets its replicas, none of which has been started by anybody.
 * Their roles are borrowed from the job. */
void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status);

/* The replica of this Pod, in the same attempt, gets where the Pod is and what stands in its way;
 * and, unless its end was written already, its state. What is set is borrowed from the Pod. */
void job_view_pod_lay_over(const struct job_pod *pod, struct replica_status *replica);
