/* Word tables, look-ups and comparison of a job's status. Its JSON stands in core/status_json.c. */
#include "core/status.h"

#include "base/text.h"

#include <string.h>

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

bool status_is_finished(const struct status *status)
{
	return status_condition_is_true(status, CONDITION_SUCCEEDED) ||
	       status_condition_is_true(status, CONDITION_FAILED);
}

const struct replica_status *status_replica(const struct status *status, const char *role,
					    int index)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->index == index && text_equals(replica->role, role))
			return replica;
	}
	return NULL;
}

/* Comparing field by field and not as JSON: it is done in every pass of the driver. */

static bool conditions_are_equal(const struct condition *a, const struct condition *b)
{
	return a->type == b->type && a->is_true == b->is_true && a->last_update == b->last_update &&
	       a->last_transition == b->last_transition && text_equals(a->reason, b->reason) &&
	       text_equals(a->message, b->message);
}

static bool roles_are_equal(const struct role_status *a, const struct role_status *b)
{
	return a->active == b->active && a->succeeded == b->succeeded && a->failed == b->failed &&
	       text_equals(a->title, b->title);
}

static bool pods_are_equal(const struct replica_status *a, const struct replica_status *b)
{
	return text_equals(a->pod, b->pod) && text_equals(a->node, b->node) &&
	       text_equals(a->ip, b->ip);
}

static bool replicas_are_equal(const struct replica_status *a, const struct replica_status *b)
{
	return a->index == b->index && a->attempt == b->attempt && a->restarts == b->restarts &&
	       a->recent_restarts == b->recent_restarts && a->restart_at == b->restart_at &&
	       a->state == b->state && a->pid == b->pid && a->exit_code == b->exit_code &&
	       a->signal == b->signal && a->start_time == b->start_time &&
	       a->end_time == b->end_time && text_equals(a->role, b->role) &&
	       text_equals(a->address, b->address) && text_equals(a->reason, b->reason) &&
	       text_equals(a->message, b->message) && text_equals(a->log, b->log) &&
	       text_equals(a->gpus, b->gpus) && pods_are_equal(a, b);
}

static bool consequences_are_equal(const struct consequence *a, const struct consequence *b)
{
	return a->index == b->index && text_equals(a->role, b->role) &&
	       text_equals(a->what, b->what);
}

static bool failure_facts_are_equal(const struct failure *a, const struct failure *b)
{
	return a->index == b->index && a->attempt == b->attempt && a->exit_code == b->exit_code &&
	       a->signal == b->signal && a->time == b->time && a->lived == b->lived &&
	       text_equals(a->role, b->role) && text_equals(a->reason, b->reason) &&
	       text_equals(a->message, b->message);
}

static bool failures_are_equal(const struct failure *a, const struct failure *b)
{
	if (!a || !b)
		return a == b;
	if (a->n_last_lines != b->n_last_lines || a->n_consequences != b->n_consequences ||
	    !failure_facts_are_equal(a, b))
		return false;
	for (size_t i = 0; i < a->n_last_lines; i++)
		if (!text_equals(a->last_lines[i], b->last_lines[i]))
			return false;
	for (size_t i = 0; i < a->n_consequences; i++)
		if (!consequences_are_equal(&a->consequences[i], &b->consequences[i]))
			return false;
	return true;
}

static bool numbers_are_equal(const struct status *a, const struct status *b)
{
	return a->start_time == b->start_time && a->completion_time == b->completion_time &&
	       a->ending_since == b->ending_since && a->restarts == b->restarts &&
	       a->recent_restarts == b->recent_restarts && a->exit_code == b->exit_code &&
	       a->n_conditions == b->n_conditions && a->n_roles == b->n_roles &&
	       a->n_replicas == b->n_replicas;
}

bool status_equals(const struct status *a, const struct status *b)
{
	if (!numbers_are_equal(a, b) || !failures_are_equal(a->failure, b->failure))
		return false;
	for (size_t i = 0; i < a->n_conditions; i++)
		if (!conditions_are_equal(&a->conditions[i], &b->conditions[i]))
			return false;
	for (size_t i = 0; i < a->n_roles; i++)
		if (!roles_are_equal(&a->roles[i], &b->roles[i]))
			return false;
	for (size_t i = 0; i < a->n_replicas; i++)
		if (!replicas_are_equal(&a->replicas[i], &b->replicas[i]))
			return false;
	return true;
}

/* Copying: arrays are copied whole, and then their texts one by one. */

static void *copy_array(struct arena *arena, const void *array, size_t count, size_t size)
{
	void *copy = arena_take_array(arena, count, size);

	if (count)
		memcpy(copy, array, count * size);
	return copy;
}

static void own_text(struct arena *arena, const char **text)
{
	*text = arena_copy_text(arena, *text);
}

static void own_condition(struct arena *arena, struct condition *condition)
{
	own_text(arena, &condition->reason);
	own_text(arena, &condition->message);
}

static void own_replica(struct arena *arena, struct replica_status *replica)
{
	own_text(arena, &replica->role);
	own_text(arena, &replica->address);
	own_text(arena, &replica->reason);
	own_text(arena, &replica->message);
	own_text(arena, &replica->log);
	own_text(arena, &replica->gpus);
	own_text(arena, &replica->pod);
	own_text(arena, &replica->node);
	own_text(arena, &replica->ip);
}

static struct failure *copy_failure(const struct failure *failure, struct arena *arena)
{
	struct failure *copy = copy_array(arena, failure, 1, sizeof(*failure));

	own_text(arena, &copy->role);
	own_text(arena, &copy->reason);
	own_text(arena, &copy->message);
	own_text(arena, &copy->cause);
	copy->last_lines = copy_array(arena, failure->last_lines, failure->n_last_lines,
				      sizeof(*copy->last_lines));
	for (size_t i = 0; i < copy->n_last_lines; i++)
		own_text(arena, &copy->last_lines[i]);
	copy->consequences = copy_array(arena, failure->consequences, failure->n_consequences,
					sizeof(*copy->consequences));
	for (size_t i = 0; i < copy->n_consequences; i++) {
		own_text(arena, &copy->consequences[i].role);
		own_text(arena, &copy->consequences[i].what);
	}
	return copy;
}

struct status status_copy(const struct status *status, struct arena *arena)
{
	struct status copy = *status;

	copy.conditions = copy_array(arena, status->conditions, status->n_conditions,
				     sizeof(*copy.conditions));
	for (size_t i = 0; i < copy.n_conditions; i++)
		own_condition(arena, &copy.conditions[i]);
	copy.roles = copy_array(arena, status->roles, status->n_roles, sizeof(*copy.roles));
	for (size_t i = 0; i < copy.n_roles; i++)
		own_text(arena, &copy.roles[i].title);
	copy.replicas =
		copy_array(arena, status->replicas, status->n_replicas, sizeof(*copy.replicas));
	for (size_t i = 0; i < copy.n_replicas; i++)
		own_replica(arena, &copy.replicas[i]);
	if (status->failure)
		copy.failure = copy_failure(status->failure, arena);
	return copy;
}
