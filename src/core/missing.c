/* Addresses and starts. */
#include "core/missing.h"

#include "core/restart.h"

static bool publish_missing(struct decision *decision)
{
	bool is_complete = true;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (!replica->is_wanted || replica->address)
			continue;
		is_complete = false;
		decision_act(decision, ACTION_PUBLISH, replica->status->role,
			     replica->status->index, 0, 0);
	}
	return is_complete;
}

/* A new replica must not meet a peer of an attempt that is over, unless peers come and go by
 * themselves. */
static bool is_old_peer_live(const struct decision *decision)
{
	if (decision->job->restart_scope == RESTART_SCOPE_REPLICA)
		return false;
	for (size_t i = 0; i < decision->n_replicas; i++)
		if (decision->replicas[i].is_older_live)
			return true;
	return false;
}

static bool is_way_free(const struct decision *decision, const struct replica *replica)
{
	return !replica->is_older_live &&
	       (replica->n_older == 0 || decision->observed->habits.names_carry_attempt);
}

static void start(struct decision *decision, const struct replica *replica)
{
	struct replica_status *status = replica->status;

	if (decision->status->start_time == MSEC_UNSET)
		decision->status->start_time = decision->now;
	status->restart_at = MSEC_UNSET;
	decision_act(decision, ACTION_START, status->role, status->index, status->attempt, 0);
}

/* Who waits for a delay waits alone: the others start. */
static void start_missing(struct decision *decision)
{
	bool is_old_peer_there = is_old_peer_live(decision);

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];
		msec waits_until = restart_waits_until(decision, replica);

		if (!replica->is_wanted || replica->status->state != REPLICA_PENDING ||
		    is_old_peer_there || !is_way_free(decision, replica))
			continue;
		if (waits_until > decision->now)
			plan_wake_at(decision->plan, waits_until);
		else
			start(decision, replica);
	}
}

/* Addresses first: every process is told those of all others when it starts. */
void missing_plan(struct decision *decision)
{
	if (!decision_is_at_rest(decision) && publish_missing(decision))
		start_missing(decision);
}
