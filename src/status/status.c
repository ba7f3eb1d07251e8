/* Word tables and look-ups of a job's status, and its JSON by one table for each struct. Unset
 * fields are not written, as with Kubernetes' `omitempty`. */
#include "status/status.h"

#include "base/names.h"
#include "spec/limits.h"

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
	[CONDITION_SUSPENDED] = "Suspended",   [CONDITION_QUEUED] = "Queued",
	[CONDITION_FAILED] = "Failed",
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

/* The JSON. */

#define SIGNAL_MAX 127 /* the range of a wait status */
#define MOST_FOREIGN_CONDITIONS 32

#define NAME .accepts = name_is_dns_label, .wanted = "a name"

static const struct json_field condition_fields[] = {
	FIELD(WORD, NEEDED, "type", condition, type, FIELD_WORDS(condition_type_words)),
	FIELD(TRUTH, OPTIONAL, "status", condition, is_true),
	FIELD(TEXT, OPTIONAL, "reason", condition, reason),
	FIELD(TEXT, OPTIONAL, "message", condition, message),
	FIELD(TIME, OPTIONAL, "lastUpdateTime", condition, last_update),
	FIELD(TIME, OPTIONAL, "lastTransitionTime", condition, last_transition),
	{0},
};

static const struct json_field role_fields[] = {
	FIELD(TEXT, OPTIONAL, "", role_status, title), /* the key */
	FIELD(INT, OPTIONAL, "active", role_status, active, 0, LIMIT_REPLICAS),
	FIELD(INT, OPTIONAL, "succeeded", role_status, succeeded, 0, LIMIT_REPLICAS),
	FIELD(INT, OPTIONAL, "failed", role_status, failed, 0, LIMIT_REPLICAS),
	{0},
};

const struct json_field status_replica_fields[] = {
	FIELD(TEXT, NEEDED, "role", replica_status, role, NAME),
	FIELD(INT, SHOWN, "index", replica_status, index, 0, LIMIT_REPLICAS - 1),
	FIELD(INT, SHOWN, "attempt", replica_status, attempt, 0, LIMIT_RESTARTS),
	FIELD(WORD, NEEDED, "state", replica_status, state, FIELD_WORDS(replica_state_words)),
	FIELD(LONG, OPTIONAL, "pid", replica_status, pid, 0, INT32_MAX),
	FIELD(TEXT, OPTIONAL, "address", replica_status, address),
	FIELD(INT, OPTIONAL, "exitCode", replica_status, exit_code, -1, INT32_MAX),
	FIELD(INT, OPTIONAL, "signal", replica_status, signal, 0, SIGNAL_MAX),
	FIELD(TEXT, OPTIONAL, "reason", replica_status, reason),
	FIELD(TEXT, OPTIONAL, "message", replica_status, message),
	FIELD(TIME, OPTIONAL, "startTime", replica_status, start_time),
	FIELD(TIME, OPTIONAL, "endTime", replica_status, end_time),
	FIELD(INT, SHOWN, "restarts", replica_status, restarts, 0, LIMIT_RESTARTS),
	FIELD(INT, OPTIONAL, "endsInPlace", replica_status, ends_in_place, 0, LIMIT_RESTARTS),
	FIELD(INT, OPTIONAL, "recentRestarts", replica_status, recent_restarts, 0, LIMIT_RESTARTS),
	FIELD(TIME, OPTIONAL, "restartAt", replica_status, restart_at),
	FIELD(TEXT, OPTIONAL, "log", replica_status, log),
	FIELD(TEXT, OPTIONAL, "gpus", replica_status, gpus),
	FIELD(TEXT, OPTIONAL, "pod", replica_status, pod),
	FIELD(TEXT, OPTIONAL, "node", replica_status, node),
	FIELD(TEXT, OPTIONAL, "ip", replica_status, ip),
	{0},
};

const struct json_field status_consequence_fields[] = {
	FIELD(TEXT, NEEDED, "role", consequence, role, NAME),
	FIELD(INT, SHOWN, "index", consequence, index, 0, LIMIT_REPLICAS - 1),
	FIELD(INT, SHOWN, "attempt", consequence, attempt, 0, LIMIT_RESTARTS),
	FIELD(TEXT, OPTIONAL, "machine", consequence, machine),
	FIELD(TEXT, NEEDED, "what", consequence, what),
	{0},
};

/* A failure of the job itself (a deadline, a stop request) has no replica. */
static const struct json_field failure_fields[] = {
	FIELD(TEXT, OPTIONAL, "role", failure, role, NAME),
	FIELD(INT, SHOWN, "index", failure, index, 0, LIMIT_REPLICAS - 1),
	FIELD(INT, SHOWN, "attempt", failure, attempt, 0, LIMIT_RESTARTS),
	FIELD(INT, OPTIONAL, "exitCode", failure, exit_code, -1, INT32_MAX),
	FIELD(INT, OPTIONAL, "signal", failure, signal, 0, SIGNAL_MAX),
	FIELD(LONG, OPTIONAL, "pid", failure, pid, 0, INT32_MAX),
	FIELD(TEXT, NEEDED, "reason", failure, reason),
	FIELD(TEXT, OPTIONAL, "message", failure, message),
	FIELD(TEXT, OPTIONAL, "cause", failure, cause),
	FIELD(TEXT, OPTIONAL, "exception", failure, exception),
	FIELD(TEXT, OPTIONAL, "rank", failure, rank),
	FIELD(TEXT, OPTIONAL, "machine", failure, machine),
	FIELD(TEXT, OPTIONAL, "machineJob", failure, machine_job, NAME),
	FIELD(TIME, OPTIONAL, "time", failure, time),
	FIELD(LONG, OPTIONAL, "livedMilliseconds", failure, lived, 0, INT64_MAX),
	FIELD(LINES, OPTIONAL, "lastLines", failure, last_lines,
	      FIELD_ELEMENTS(failure, last_lines, LIMIT_LAST_LINES, NULL)),
	FIELD(LINES, OPTIONAL, "stacks", failure, stacks,
	      FIELD_ELEMENTS(failure, stacks, LIMIT_STACKS, NULL)),
	FIELD(LIST, OPTIONAL, "consequences", failure, consequences,
	      FIELD_ELEMENTS(failure, consequences, LIMIT_REPLICAS, status_consequence_fields)),
	{0},
};

static const struct json_field status_fields[] = {
	FIELD(LIST, SHOWN, "conditions", status, conditions,
	      FIELD_ELEMENTS(status, conditions, CONDITION_COUNT, condition_fields)),
	FIELD(TEXT, HIDDEN, "foreignConditions", status, foreign_conditions),
	FIELD(MAP, OPTIONAL, "replicaStatuses", status, roles,
	      FIELD_ELEMENTS(status, roles, LIMIT_ROLES, role_fields)),
	FIELD(TIME, OPTIONAL, "startTime", status, start_time),
	FIELD(TIME, OPTIONAL, "completionTime", status, completion_time),
	FIELD(TIME, OPTIONAL, "endingSince", status, ending_since),
	FIELD(INT, OPTIONAL, "exitCode", status, exit_code, -1, INT32_MAX),
	FIELD(INT, OPTIONAL, "restarts", status, restarts, 0, LIMIT_RESTARTS),
	FIELD(INT, OPTIONAL, "recentRestarts", status, recent_restarts, 0, LIMIT_RESTARTS),
	FIELD(TEXT, OPTIONAL, "machines", status, machines),
	FIELD(INT, OPTIONAL, "firstRank", status, first_rank, 0, LIMIT_REPLICAS),
	FIELD(INT, OPTIONAL, "ranks", status, n_ranks, 0, LIMIT_REPLICAS),
	FIELD(POINTER, OPTIONAL, "failure", status, failure, .fields = failure_fields,
	      .size = sizeof(struct failure)),
	FIELD(LIST, SHOWN, "replicas", status, replicas,
	      FIELD_ELEMENTS(status, replicas, (size_t) LIMIT_ROLES *LIMIT_REPLICAS,
			     status_replica_fields)),
	{0},
};

/* Another controller may have its own conditions in the status. */

static bool is_foreign(const struct json *condition)
{
	const char *type = json_get_string(condition, "type", NULL);

	return type && name_find_word(condition_type_words, CONDITION_COUNT, type) < 0;
}

/* Divides the list: the text of the foreign ones in the arena, or NULL, and the others. */
static struct json *own_conditions(const struct json *list, struct arena *arena,
				   const char **ret_foreign)
{
	struct json *foreign CLEANUP(json_cleanup) = json_new_array();
	struct json *own = json_new_array();

	for (size_t i = 0; i < json_count(list); i++) {
		struct json *condition = json_at(list, i);
		bool is_ours =
			!is_foreign(condition) || json_count(foreign) == MOST_FOREIGN_CONDITIONS;

		json_append(is_ours ? own : foreign, json_ref(condition));
	}
	char *text CLEANUP(mem_free_text) = json_count(foreign) ? json_compact_text(foreign) : NULL;
	*ret_foreign = arena_copy_text(arena, text);
	return own;
}

/* A failure of the job itself has no replica. */
static void drop_replica(struct json *object, const struct failure *failure)
{
	if (!object || failure->role || failure->machine)
		return;
	json_remove(object, "index");
	json_remove(object, "attempt");
}

struct json *status_write(const struct status *status)
{
	struct json *object = json_new_object(), *foreign CLEANUP(json_cleanup) = NULL;
	const char *text = status->foreign_conditions;

	fields_write(object, status_fields, status);
	if (text && json_read(text, strlen(text), &foreign, NULL) == 0)
		for (size_t i = 0; i < json_count(foreign); i++)
			json_append(json_get(object, "conditions"), json_ref(json_at(foreign, i)));
	drop_replica(json_get(object, "failure"), status->failure);
	return object;
}

int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err)
{
	struct json *root CLEANUP(json_cleanup) = json_new_shallow_copy(value);
	struct status status = {0};

	if (!json_is(value, JSON_NULL) && !json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "status: expected an object");
	if (json_is(json_get(root, "conditions"), JSON_ARRAY))
		json_set(root, "conditions",
			 own_conditions(json_get(root, "conditions"), arena,
					&status.foreign_conditions));
	int rc = fields_read(root, "status", status_fields, arena, &status, err);

	if (rc == 0)
		*ret_status = status;
	return rc;
}

bool status_equals(const struct status *a, const struct status *b)
{
	return fields_equal(status_fields, a, b);
}

void status_move_times(struct status *status, msec step)
{
	if (step != 0)
		fields_move_times(status_fields, status, step);
}

struct status status_copy(const struct status *status, struct arena *arena)
{
	struct status copy = *status;

	fields_own(status_fields, arena, &copy);
	return copy;
}

struct json *status_failure_write(const struct failure *failure)
{
	struct json *object = json_new_object();

	fields_write(object, failure_fields, failure);
	drop_replica(object, failure);
	return object;
}

int status_failure_read(const struct json *value, struct arena *arena, struct failure **ret_failure,
			struct err *err)
{
	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object");
	*ret_failure = arena_take(arena, sizeof(**ret_failure));
	return fields_read(value, NULL, failure_fields, arena, *ret_failure, err);
}

struct failure *status_failure_copy(const struct failure *failure, struct arena *arena)
{
	struct failure *copy = arena_take(arena, sizeof(*copy));

	*copy = *failure;
	fields_own(failure_fields, arena, copy);
	return copy;
}
