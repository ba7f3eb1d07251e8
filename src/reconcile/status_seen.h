/* A status with what is seen of its replicas laid over it, for those who look and do not decide: a
 * status that was kept small (reconcile/compact_status.h) becomes whole. */
#pragma once

#include "base/mem.h"
#include "reconcile/observed.h"
#include "spec/job.h"
#include "status/status.h"

/* What is seen of this replica's attempt: what stands in its way, and, unless its end was written
 * already, its state. Texts are borrowed. */
void replica_see(struct replica_status *replica, const struct observed_replica *seen);

/* Where the replicas of a status stand: by role, and in each by index, so that one is near where it
 * is looked for first. */
struct replica_places {
	const struct job *job;
	const struct status *status;
	const size_t *firsts; /* of each of the job's roles; in the arena */
};

struct replica_places replica_places(const struct job *job, const struct status *status,
				     struct arena *arena);
struct replica_status *replica_find(const struct replica_places *places, const char *role_name,
				    int index);

/* All that is seen of a job, addresses too, and how many replicas of each role are in which state.
 * Texts of `observed` are borrowed. */
void status_see(const struct job *job, const struct observed *observed, struct arena *arena,
		struct status *status);
