#include "reconcile/status_seen.h"

void replica_see(struct replica_status *replica, const struct observed_replica *seen)
{
	if (seen->reason) {
		replica->reason = seen->reason;
		replica->message = seen->message;
	}
	if (replica_state_is_end(replica->state))
		return; /* the end was already evaluated */
	replica->state = observed_state(seen);
	replica->exit_code = seen->exit_code;
	replica->signal = seen->signal;
	replica->start_time = seen->started_at;
	replica->end_time = seen->ended_at;
}

struct replica_places replica_places(const struct job *job, const struct status *status,
				     struct arena *arena)
{
	size_t *firsts = arena_take_array(arena, job->n_roles, sizeof(*firsts));

	for (size_t i = status->n_replicas; i-- > 0;) {
		const struct role *role = status->replicas[i].index == 0
						  ? job_role(job, status->replicas[i].role)
						  : NULL;

		if (role)
			firsts[role - job->roles] = i;
	}
	return (struct replica_places){.job = job, .status = status, .firsts = firsts};
}

struct replica_status *replica_find(const struct replica_places *places, const char *role_name,
				    int index)
{
	const struct role *role = job_role(places->job, role_name);
	size_t first = role ? places->firsts[role - places->job->roles] : 0;

	return status_replica_near(places->status, first + (size_t) index, role_name, index);
}

/* Counts as the decision does. The counts of a succeeded job do not change. */
static void count_roles(const struct job *job, struct arena *arena, struct status *status)
{
	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		return;
	status->n_roles = job->n_roles;
	status->roles = arena_take_array(arena, job->n_roles, sizeof(*status->roles));
	for (size_t i = 0; i < job->n_roles; i++)
		status->roles[i].title = arena_copy_text(arena, job->roles[i].title);
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];
		const struct role *role = job_role(job, replica->role);

		if (!role || replica->index >= role->replicas)
			continue;
		role_status_add(&status->roles[role - job->roles], replica->state);
	}
	status_drop_idle_roles(status);
}

void status_see(const struct job *job, const struct observed *observed, struct arena *arena,
		struct status *status)
{
	const struct replica_places places = replica_places(job, status, arena);

	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *seen = &observed->replicas[i];
		struct replica_status *replica = replica_find(&places, seen->role, seen->index);

		if (replica && replica->attempt == seen->attempt)
			replica_see(replica, seen);
	}
	for (size_t i = 0; i < observed->n_addresses; i++) {
		const struct observed_address *seen = &observed->addresses[i];
		struct replica_status *replica = replica_find(&places, seen->role, seen->index);

		if (replica)
			replica->address = seen->address;
	}
	count_roles(job, arena, status);
}
