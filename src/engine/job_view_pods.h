/* What a client shows of a Pod, and how it changes what a job's status says of the replica. Pure.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "core/job.h"
#include "core/status.h"

struct job_view_pod;

/* NULL for a Pod that is none of this job; of one that is untouched (record_is_untouched) a Pod
 * that nobody owns is its own. */
struct job_view_pod *job_view_pod_read(const struct json *object, const struct job *job,
				       bool is_untouched) MUST_USE;
void job_view_pod_free(struct job_view_pod *pod); /* NULL is fine */

/* The status of an untouched job gets its replicas, none of which has been started by anybody.
 * Their roles are borrowed from the job. */
void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status);

/* The replica of this Pod, in the same attempt, gets where the Pod is and what stands in its way;
 * and, unless its end was written already, its state. What is set is borrowed from the Pod. */
void job_view_pod_lay_over(const struct job_view_pod *pod, struct status *status);
