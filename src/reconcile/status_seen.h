/* Merges the observed state of the replicas into a status, for readers that do not decide: a
 * compact status (reconcile/compact_status.h) becomes complete. */
#pragma once

#include "base/mem.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/status.h"

/* Takes over what is observed of this replica's attempt: what holds it up and, unless its end was
 * already written, its state. Texts are borrowed. */
void replica_see(struct replica_status *replica, const struct observed_replica *seen);

/* Where each role begins in a status: a replica is near the first place searched. */
struct replica_places {
	const struct job *job;
	const struct status *status;
	const size_t *firsts; /* of each of the job's roles; in the arena */
};

struct replica_places replica_places(const struct job *job, const struct status *status,
				     struct arena *arena);
struct replica_status *replica_find(const struct replica_places *places, const char *role_name,
				    int index);

/* Merges all that is observed of a job, including addresses and the counts of replicas by role and
 * state. Texts of `observed` are borrowed. */
void status_see(const struct job *job, const struct observed *observed, struct arena *arena,
		struct status *status);
