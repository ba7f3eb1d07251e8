/* The Pods and Services of a TFJob object, member for member as training-operator 1.9 makes them,
 * so that its jobs go on under muster and the other way round.
 *
 * Source: sections 2.1 to 2.6 of what was recorded of 1.9.4 (docs/operator.md has what differs).
 * All of it follows from the job alone. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "core/job.h"

/* What the Pods of a job have in common, made once. The job outlives it. `domain` is
 * CUSTOM_CLUSTER_DOMAIN, borrowed; NULL: none. */
struct tfjob_objects;
struct tfjob_objects *tfjob_objects_new(const struct job *job, const char *domain) MUST_USE;
void tfjob_objects_free(struct tfjob_objects *objects); /* NULL is fine */

/* The Pod of a replica in an attempt, which it says in an annotation from the second one on. The
 * object with `owner_uid` is the TFJob. */
struct json *tfjob_pod_new(const struct tfjob_objects *objects, const struct role *role, int index,
			   int attempt, const char *owner_uid) MUST_USE;
/* The headless Service of one replica, of the same name. */
struct json *tfjob_service_new(const struct job *job, const struct role *role, int index,
			       const char *owner_uid) MUST_USE;
