/* Word tables and look-ups of a job's status. status/fields.c has its JSON, comparison and copies.
 */
#include "status/status.h"

#include "base/text.h"

#define MOST_RANGES 8

void replica_names_add_range(struct text *text, const char *role, int first, int last)
{
	text_addf(text, "%s-%d", role, first);
	if (last > first)
		text_addf(text, " to %s-%d", role, last);
}

static bool is_next(const struct replica_status *replica, const struct replica_status *next)
{
	return text_equals(next->role, replica->role) && next->index == replica->index + 1;
}

void replica_names_add_ranks(struct text *text, int first, int count, int n_ranks)
{
	text_addf(text, "%d", first);
	if (count > 1)
		text_addf(text, " to %d", first + count - 1);
	text_addf(text, " of %d", n_ranks);
}

void replica_names_add(struct text *text, const struct status *status,
		       bool (*is_named)(const struct replica_status *replica))
{
	size_t n_ranges = 0, n_more = 0;

	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *first = &status->replicas[i], *last = first;

		if (!is_named(first))
			continue;
		if (n_ranges == MOST_RANGES) {
			n_more++;
			continue;
		}
		while (i + 1 < status->n_replicas && is_next(last, last + 1) && is_named(last + 1))
			last = &status->replicas[++i];
		if (last == first + 1)
			last = &status->replicas[--i]; /* two replicas are no range */
		text_add(text, n_ranges++ ? ", " : "");
		replica_names_add_range(text, first->role, first->index, last->index);
	}
	if (n_more > 0)
		text_addf(text, " and %zu more", n_more);
}

const char *const condition_type_words[CONDITION_COUNT] = {
	[CONDITION_CREATED] = "Created",       [CONDITION_RUNNING] = "Running",
	[CONDITION_RESTARTING] = "Restarting", [CONDITION_SUCCEEDED] = "Succeeded",
	[CONDITION_SUSPENDED] = "Suspended",   [CONDITION_FAILED] = "Failed",
};

const char *const replica_state_words[REPLICA_STATE_COUNT] = {
	[REPLICA_PENDING] = "Pending",     [REPLICA_STARTING] = "Starting",
	[REPLICA_RUNNING] = "Running",     [REPLICA_STOPPING] = "Stopping",
	[REPLICA_SUCCEEDED] = "Succeeded", [REPLICA_FAILED] = "Failed",
	[REPLICA_STOPPED] = "Stopped",
};

const struct condition *status_condition(const struct status *status, enum condition_type type)
{
	for (size_t i = 0; i < status->n_conditions; i++)
		if (status->conditions[i].type == type)
			return &status->conditions[i];
	return NULL;
}

bool status_condition_is_true(const struct status *status, enum condition_type type)
{
	const struct condition *condition = status_condition(status, type);

	return condition && condition->is_true;
}

bool status_has_pods(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (status->replicas[i].pod)
			return true;
	return false;
}

bool status_is_finished(const struct status *status)
{
	return status_condition_is_true(status, CONDITION_SUCCEEDED) ||
	       status_condition_is_true(status, CONDITION_FAILED);
}

bool replica_state_is_end(enum replica_state state)
{
	return state == REPLICA_SUCCEEDED || state == REPLICA_FAILED || state == REPLICA_STOPPED;
}

void role_status_add(struct role_status *counts, enum replica_state state)
{
	counts->active += state == REPLICA_RUNNING;
	counts->succeeded += state == REPLICA_SUCCEEDED;
	counts->failed += state == REPLICA_FAILED;
}

void status_drop_idle_roles(struct status *status)
{
	size_t n_kept = 0;

	if (!status_condition_is_true(status, CONDITION_SUSPENDED))
		return;
	for (size_t i = 0; i < status->n_roles; i++) {
		const struct role_status *role = &status->roles[i];

		if (role->active || role->succeeded || role->failed)
			status->roles[n_kept++] = *role;
	}
	status->n_roles = n_kept;
}

const struct replica_status *status_replica(const struct status *status, const char *role,
					    int index)
{
	return status_replica_near(status, 0, role, index);
}

struct replica_status *status_replica_near(const struct status *status, size_t place,
					   const char *role, int index)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		struct replica_status *replica =
			&status->replicas[(place + i) % status->n_replicas];

		if (replica->index == index && text_equals(replica->role, role))
			return replica;
	}
	return NULL;
}
