#include "status/fields.h"

#include "base/names.h"
#include "base/text.h"
#include "spec/limits.h"
#include "status/status.h"

#include <string.h>

#define SIGNAL_MAX 127 /* the range of a wait status */

const struct status_field status_condition_fields[] = {
	{"type", STATUS_WORD, offsetof(struct condition, type), 0, CONDITION_COUNT,
	 condition_type_words},
	{"status", STATUS_TRUTH, offsetof(struct condition, is_true)},
	{"reason", STATUS_TEXT, offsetof(struct condition, reason)},
	{"message", STATUS_TEXT, offsetof(struct condition, message)},
	{"lastUpdateTime", STATUS_TIME, offsetof(struct condition, last_update)},
	{"lastTransitionTime", STATUS_TIME, offsetof(struct condition, last_transition)},
	{0},
};

const struct status_field status_role_fields[] = {
	{"active", STATUS_NUMBER, offsetof(struct role_status, active), 0, LIMIT_REPLICAS},
	{"succeeded", STATUS_NUMBER, offsetof(struct role_status, succeeded), 0, LIMIT_REPLICAS},
	{"failed", STATUS_NUMBER, offsetof(struct role_status, failed), 0, LIMIT_REPLICAS},
	{0},
};

const struct status_field status_replica_fields[] = {
	{"role", STATUS_NEEDED_TEXT, offsetof(struct replica_status, role),
	 .accepts = name_is_dns_label},
	{"index", STATUS_PLAIN_NUMBER, offsetof(struct replica_status, index), 0,
	 LIMIT_REPLICAS - 1},
	{"attempt", STATUS_PLAIN_NUMBER, offsetof(struct replica_status, attempt), 0,
	 LIMIT_RESTARTS},
	{"state", STATUS_WORD, offsetof(struct replica_status, state), 0, REPLICA_STATE_COUNT,
	 replica_state_words},
	{"pid", STATUS_LONG_NUMBER, offsetof(struct replica_status, pid), 0, INT32_MAX},
	{"address", STATUS_TEXT, offsetof(struct replica_status, address)},
	{"exitCode", STATUS_NUMBER, offsetof(struct replica_status, exit_code), -1, INT32_MAX},
	{"signal", STATUS_NUMBER, offsetof(struct replica_status, signal), 0, SIGNAL_MAX},
	{"reason", STATUS_TEXT, offsetof(struct replica_status, reason)},
	{"message", STATUS_TEXT, offsetof(struct replica_status, message)},
	{"startTime", STATUS_TIME, offsetof(struct replica_status, start_time)},
	{"endTime", STATUS_TIME, offsetof(struct replica_status, end_time)},
	{"restarts", STATUS_PLAIN_NUMBER, offsetof(struct replica_status, restarts), 0,
	 LIMIT_RESTARTS},
	{"endsInPlace", STATUS_NUMBER, offsetof(struct replica_status, ends_in_place), 0,
	 LIMIT_RESTARTS},
	{"recentRestarts", STATUS_NUMBER, offsetof(struct replica_status, recent_restarts), 0,
	 LIMIT_RESTARTS},
	{"restartAt", STATUS_TIME, offsetof(struct replica_status, restart_at)},
	{"log", STATUS_TEXT, offsetof(struct replica_status, log)},
	{"gpus", STATUS_TEXT, offsetof(struct replica_status, gpus)},
	{"pod", STATUS_TEXT, offsetof(struct replica_status, pod)},
	{"node", STATUS_TEXT, offsetof(struct replica_status, node)},
	{"ip", STATUS_TEXT, offsetof(struct replica_status, ip)},
	{0},
};

const struct status_field status_consequence_fields[] = {
	{"role", STATUS_NEEDED_TEXT, offsetof(struct consequence, role),
	 .accepts = name_is_dns_label},
	{"index", STATUS_PLAIN_NUMBER, offsetof(struct consequence, index), 0, LIMIT_REPLICAS - 1},
	{"attempt", STATUS_PLAIN_NUMBER, offsetof(struct consequence, attempt), 0, LIMIT_RESTARTS},
	{"machine", STATUS_TEXT, offsetof(struct consequence, machine)},
	{"what", STATUS_NEEDED_TEXT, offsetof(struct consequence, what)},
	{0},
};

const struct status_field status_failed_replica_fields[] = {
	{"role", STATUS_TEXT, offsetof(struct failure, role), .accepts = name_is_dns_label},
	{"index", STATUS_PLAIN_NUMBER, offsetof(struct failure, index), 0, LIMIT_REPLICAS - 1},
	{"attempt", STATUS_PLAIN_NUMBER, offsetof(struct failure, attempt), 0, LIMIT_RESTARTS},
	{0},
};

const struct status_field status_failure_fields[] = {
	{"exitCode", STATUS_NUMBER, offsetof(struct failure, exit_code), -1, INT32_MAX},
	{"signal", STATUS_NUMBER, offsetof(struct failure, signal), 0, SIGNAL_MAX},
	{"pid", STATUS_LONG_NUMBER, offsetof(struct failure, pid), 0, INT32_MAX},
	{"reason", STATUS_NEEDED_TEXT, offsetof(struct failure, reason)},
	{"message", STATUS_TEXT, offsetof(struct failure, message)},
	{"cause", STATUS_TEXT, offsetof(struct failure, cause)},
	{"exception", STATUS_TEXT, offsetof(struct failure, exception)},
	{"rank", STATUS_TEXT, offsetof(struct failure, rank)},
	{"machine", STATUS_TEXT, offsetof(struct failure, machine)},
	{"machineJob", STATUS_TEXT, offsetof(struct failure, machine_job),
	 .accepts = name_is_dns_label},
	{"time", STATUS_TIME, offsetof(struct failure, time)},
	{"livedMilliseconds", STATUS_LONG_NUMBER, offsetof(struct failure, lived), 0, INT64_MAX},
	{0},
};

const struct status_field status_fields[] = {
	{"startTime", STATUS_TIME, offsetof(struct status, start_time)},
	{"completionTime", STATUS_TIME, offsetof(struct status, completion_time)},
	{"endingSince", STATUS_TIME, offsetof(struct status, ending_since)},
	{"exitCode", STATUS_NUMBER, offsetof(struct status, exit_code), -1, INT32_MAX},
	{"restarts", STATUS_NUMBER, offsetof(struct status, restarts), 0, LIMIT_RESTARTS},
	{"recentRestarts", STATUS_NUMBER, offsetof(struct status, recent_restarts), 0,
	 LIMIT_RESTARTS},
	{"machines", STATUS_TEXT, offsetof(struct status, machines)},
	{"firstRank", STATUS_NUMBER, offsetof(struct status, first_rank), 0, LIMIT_REPLICAS},
	{"ranks", STATUS_NUMBER, offsetof(struct status, n_ranks), 0, LIMIT_REPLICAS},
	{0},
};

/* Compares field by field, not as JSON, because every reconcile pass does it. */

bool status_field_is_equal(const struct status_field *field, const void *a, const void *b)
{
	switch (field->kind) {
	case STATUS_TEXT:
	case STATUS_NEEDED_TEXT:
		return text_equals(*(const char *const *) a, *(const char *const *) b);
	case STATUS_TRUTH:
		return *(const bool *) a == *(const bool *) b;
	case STATUS_WORD:
	case STATUS_NUMBER:
	case STATUS_PLAIN_NUMBER:
		return *(const int *) a == *(const int *) b;
	case STATUS_TIME:
	case STATUS_LONG_NUMBER:
		break;
	}
	return *(const int64_t *) a == *(const int64_t *) b;
}

static bool fields_are_equal(const struct status_field *fields, const void *a, const void *b)
{
	for (; fields->key; fields++)
		if (!status_field_is_equal(fields, (const char *) a + fields->offset,
					   (const char *) b + fields->offset))
			return false;
	return true;
}

static bool lists_are_equal(const struct status_field *fields, const void *a, const void *b,
			    size_t count, size_t size)
{
	for (size_t i = 0; i < count * size; i += size)
		if (!fields_are_equal(fields, (const char *) a + i, (const char *) b + i))
			return false;
	return true;
}

static bool lines_are_equal(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (!text_equals(a[i], b[i]))
			return false;
	return true;
}

static bool failures_are_equal(const struct failure *a, const struct failure *b)
{
	if (!a || !b)
		return a == b;
	if (a->n_consequences != b->n_consequences ||
	    !fields_are_equal(status_failed_replica_fields, a, b) ||
	    !fields_are_equal(status_failure_fields, a, b) ||
	    !lines_are_equal(a->last_lines, a->n_last_lines, b->last_lines, b->n_last_lines) ||
	    !lines_are_equal(a->stacks, a->n_stacks, b->stacks, b->n_stacks))
		return false;
	return lists_are_equal(status_consequence_fields, a->consequences, b->consequences,
			       a->n_consequences, sizeof(*a->consequences));
}

static bool roles_are_equal(const struct status *a, const struct status *b)
{
	for (size_t i = 0; i < a->n_roles; i++)
		if (!text_equals(a->roles[i].title, b->roles[i].title))
			return false;
	return lists_are_equal(status_role_fields, a->roles, b->roles, a->n_roles,
			       sizeof(*a->roles));
}

bool status_equals(const struct status *a, const struct status *b)
{
	return fields_are_equal(status_fields, a, b) && a->n_conditions == b->n_conditions &&
	       text_equals(a->foreign_conditions, b->foreign_conditions) &&
	       a->n_roles == b->n_roles && a->n_replicas == b->n_replicas &&
	       failures_are_equal(a->failure, b->failure) &&
	       lists_are_equal(status_condition_fields, a->conditions, b->conditions,
			       a->n_conditions, sizeof(*a->conditions)) &&
	       roles_are_equal(a, b) &&
	       lists_are_equal(status_replica_fields, a->replicas, b->replicas, a->n_replicas,
			       sizeof(*a->replicas));
}

/* Copies structs whole, and then their texts one by one. */

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

static void own_texts(struct arena *arena, const struct status_field *fields, void *of)
{
	for (; fields->key; fields++)
		if (fields->kind == STATUS_TEXT || fields->kind == STATUS_NEEDED_TEXT)
			own_text(arena, (const char **) ((char *) of + fields->offset));
}

static void *copy_list(struct arena *arena, const struct status_field *fields, const void *list,
		       size_t count, size_t size)
{
	char *copy = copy_array(arena, list, count, size);

	for (size_t i = 0; i < count * size; i += size)
		own_texts(arena, fields, copy + i);
	return copy;
}

static const char **copy_lines(struct arena *arena, const char *const *lines, size_t count)
{
	const char **copy = copy_array(arena, lines, count, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		own_text(arena, &copy[i]);
	return copy;
}

struct failure *status_failure_copy(const struct failure *failure, struct arena *arena)
{
	struct failure *copy =
		copy_list(arena, status_failure_fields, failure, 1, sizeof(*failure));

	own_texts(arena, status_failed_replica_fields, copy);
	copy->last_lines = copy_lines(arena, failure->last_lines, failure->n_last_lines);
	copy->stacks = copy_lines(arena, failure->stacks, failure->n_stacks);
	copy->consequences = copy_list(arena, status_consequence_fields, failure->consequences,
				       failure->n_consequences, sizeof(*copy->consequences));
	return copy;
}

static void move_times(const struct status_field *fields, void *list, size_t count, size_t size,
		       msec step)
{
	for (; fields->key; fields++)
		for (size_t i = 0; fields->kind == STATUS_TIME && i < count; i++)
			msec_move((msec *) ((char *) list + i * size + fields->offset), step);
}

void status_move_times(struct status *status, msec step)
{
	if (step == 0)
		return;
	move_times(status_fields, status, 1, 0, step);
	move_times(status_condition_fields, status->conditions, status->n_conditions,
		   sizeof(*status->conditions), step);
	move_times(status_replica_fields, status->replicas, status->n_replicas,
		   sizeof(*status->replicas), step);
	if (status->failure)
		move_times(status_failure_fields, status->failure, 1, 0, step);
}

struct status status_copy(const struct status *status, struct arena *arena)
{
	struct status copy = *status;

	copy.conditions = copy_list(arena, status_condition_fields, status->conditions,
				    status->n_conditions, sizeof(*copy.conditions));
	own_texts(arena, status_fields, &copy);
	own_text(arena, &copy.foreign_conditions);
	copy.roles = copy_array(arena, status->roles, status->n_roles, sizeof(*copy.roles));
	for (size_t i = 0; i < copy.n_roles; i++)
		own_text(arena, &copy.roles[i].title);
	copy.replicas = copy_list(arena, status_replica_fields, status->replicas,
				  status->n_replicas, sizeof(*copy.replicas));
	if (status->failure)
		copy.failure = status_failure_copy(status->failure, arena);
	return copy;
}
