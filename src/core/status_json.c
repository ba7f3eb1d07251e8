/* A job's status as JSON and back. What is not set is not written, as Kubernetes' `omitempty`. */
#include "core/status.h"

#include "base/names.h"
#include "base/text.h"
#include "core/limits.h"

#include <inttypes.h>
#include <stdio.h>

#define SIGNAL_MAX 127 /* what a wait status has room for */

static void set_time(struct json *object, const char *key, msec time)
{
	if (time == MSEC_UNSET)
		return;

	struct text text CLEANUP(text_done) = {0};

	text_add_time(&text, time);
	json_set_string(object, key, text_of(&text));
}

static void set_unless(struct json *object, const char *key, int64_t number, int64_t unset)
{
	if (number != unset)
		json_set_integer(object, key, number);
}

static struct json *write_condition(const struct condition *condition)
{
	struct json *object = json_new_object();

	json_set_string(object, "type", condition_type_words[condition->type]);
	json_set_string(object, "status", condition->is_true ? "True" : "False");
	json_set_string(object, "reason", condition->reason);
	json_set_string(object, "message", condition->message);
	set_time(object, "lastUpdateTime", condition->last_update);
	set_time(object, "lastTransitionTime", condition->last_transition);
	return object;
}

static struct json *write_role(const struct role_status *role)
{
	struct json *object = json_new_object();

	set_unless(object, "active", role->active, 0);
	set_unless(object, "succeeded", role->succeeded, 0);
	set_unless(object, "failed", role->failed, 0);
	return object;
}

static struct json *write_replica(const struct replica_status *replica)
{
	struct json *object = json_new_object();

	json_set_string(object, "role", replica->role);
	json_set_integer(object, "index", replica->index);
	json_set_integer(object, "attempt", replica->attempt);
	json_set_string(object, "state", replica_state_words[replica->state]);
	set_unless(object, "pid", replica->pid, 0);
	json_set_string(object, "address", replica->address);
	set_unless(object, "exitCode", replica->exit_code, -1);
	set_unless(object, "signal", replica->signal, 0);
	json_set_string(object, "reason", replica->reason);
	json_set_string(object, "message", replica->message);
	set_time(object, "startTime", replica->start_time);
	set_time(object, "endTime", replica->end_time);
	json_set_integer(object, "restarts", replica->restarts);
	set_unless(object, "recentRestarts", replica->recent_restarts, 0);
	set_time(object, "restartAt", replica->restart_at);
	json_set_string(object, "log", replica->log);
	json_set_string(object, "gpus", replica->gpus);
	json_set_string(object, "pod", replica->pod);
	json_set_string(object, "node", replica->node);
	json_set_string(object, "ip", replica->ip);
	return object;
}

static struct json *write_consequence(const struct consequence *consequence)
{
	struct json *object = json_new_object();

	json_set_string(object, "role", consequence->role);
	json_set_integer(object, "index", consequence->index);
	json_set_integer(object, "attempt", consequence->attempt);
	json_set_string(object, "what", consequence->what);
	return object;
}

static void set_last_lines(struct json *object, const struct failure *failure)
{
	if (failure->n_last_lines == 0)
		return;

	struct json *lines = json_new_array();

	for (size_t i = 0; i < failure->n_last_lines; i++)
		json_append(lines, json_new_string(failure->last_lines[i]));
	json_set(object, "lastLines", lines);
}

static void set_consequences(struct json *object, const struct failure *failure)
{
	if (failure->n_consequences == 0)
		return;

	struct json *consequences = json_new_array();

	for (size_t i = 0; i < failure->n_consequences; i++)
		json_append(consequences, write_consequence(&failure->consequences[i]));
	json_set(object, "consequences", consequences);
}

/* A failure without a role is the job's own: a deadline, a request to stop. */
static struct json *write_failure(const struct failure *failure)
{
	struct json *object = json_new_object();

	if (failure->role) {
		json_set_string(object, "role", failure->role);
		json_set_integer(object, "index", failure->index);
		json_set_integer(object, "attempt", failure->attempt);
	}
	set_unless(object, "exitCode", failure->exit_code, -1);
	set_unless(object, "signal", failure->signal, 0);
	json_set_string(object, "reason", failure->reason);
	json_set_string(object, "message", failure->message);
	json_set_string(object, "cause", failure->cause);
	set_time(object, "time", failure->time);
	set_unless(object, "livedMilliseconds", failure->lived, 0);
	set_last_lines(object, failure);
	set_consequences(object, failure);
	return object;
}

static void set_conditions(struct json *object, const struct status *status)
{
	struct json *conditions = json_new_array();

	for (size_t i = 0; i < status->n_conditions; i++)
		json_append(conditions, write_condition(&status->conditions[i]));
	json_set(object, "conditions", conditions);
}

static void set_roles(struct json *object, const struct status *status)
{
	struct json *roles = json_new_object();

	for (size_t i = 0; i < status->n_roles; i++)
		json_set(roles, status->roles[i].title, write_role(&status->roles[i]));
	json_set(object, "replicaStatuses", roles);
}

static void set_replicas(struct json *object, const struct status *status)
{
	struct json *replicas = json_new_array();

	for (size_t i = 0; i < status->n_replicas; i++)
		json_append(replicas, write_replica(&status->replicas[i]));
	json_set(object, "replicas", replicas);
}

struct json *status_write(const struct status *status)
{
	struct json *object = json_new_object();

	set_conditions(object, status);
	set_roles(object, status);
	set_time(object, "startTime", status->start_time);
	set_time(object, "completionTime", status->completion_time);
	set_unless(object, "exitCode", status->exit_code, -1);
	set_unless(object, "restarts", status->restarts, 0);
	set_unless(object, "recentRestarts", status->recent_restarts, 0);
	if (status->failure)
		json_set(object, "failure", write_failure(status->failure));
	set_replicas(object, status);
	return object;
}

/* Reading. The first thing that is wrong is kept in `rc` and the rest is read all the same, so
 * that no reading function has to be asked whether it went well. */
struct reader {
	struct arena *arena;
	struct err *err;
	int rc;
	const char *list; /* where we are: "replicas", or NULL at the top */
	size_t index; /* in that list */
};

static void refuse(struct reader *reader, const char *key, const char *expected)
{
	if (reader->rc < 0)
		return;
	if (reader->list)
		reader->rc = err_set(reader->err, ERR_INVALID, "status.%s[%zu].%s: expected %s",
				     reader->list, reader->index, key, expected);
	else
		reader->rc =
			err_set(reader->err, ERR_INVALID, "status.%s: expected %s", key, expected);
}

/* The member when it is there and of this type; NULL otherwise. */
static struct json *get(struct reader *reader, const struct json *object, const char *key,
			enum json_type type, const char *expected)
{
	struct json *value = json_get(object, key);

	if (json_is(value, JSON_NULL))
		return NULL;
	if (json_is(value, type))
		return value;
	refuse(reader, key, expected);
	return NULL;
}

static const char *read_text(struct reader *reader, const struct json *object, const char *key)
{
	struct json *value = get(reader, object, key, JSON_STRING, "text");

	return arena_copy_text(reader->arena, json_as_string(value, NULL));
}

static const char *read_needed_text(struct reader *reader, const struct json *object,
				    const char *key)
{
	const char *text = read_text(reader, object, key);

	if (text)
		return text;
	refuse(reader, key, "text");
	return "";
}

/* Every number has a range: a status lies on disk, where hands can reach it, and a decision counts
 * on with these. */
static int64_t read_number(struct reader *reader, const struct json *object, const char *key,
			   int64_t low, int64_t high, int64_t otherwise)
{
	struct json *value = get(reader, object, key, JSON_INTEGER, "a whole number");
	int64_t number = json_as_integer(value, otherwise);
	char expected[80];

	if (!value || (number >= low && number <= high))
		return number;
	snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64, low,
		 high);
	refuse(reader, key, expected);
	return otherwise;
}

static int read_index(struct reader *reader, const struct json *object)
{
	return (int) read_number(reader, object, "index", 0, LIMIT_REPLICAS - 1, 0);
}

/* Attempts, and restarts of the job or of one replica. */
static int read_restarts(struct reader *reader, const struct json *object, const char *key)
{
	return (int) read_number(reader, object, key, 0, LIMIT_RESTARTS, 0);
}

static int read_exit_code(struct reader *reader, const struct json *object)
{
	return (int) read_number(reader, object, "exitCode", -1, INT32_MAX, -1);
}

static int read_signal(struct reader *reader, const struct json *object)
{
	return (int) read_number(reader, object, "signal", 0, SIGNAL_MAX, 0);
}

static msec read_time(struct reader *reader, const struct json *object, const char *key)
{
	const char *text =
		json_as_string(get(reader, object, key, JSON_STRING, "a time (RFC 3339)"), NULL);
	msec time = MSEC_UNSET;

	if (text && text_read_time(text, &time, NULL) < 0)
		refuse(reader, key, "a time (RFC 3339)");
	return time;
}

/* Index of a word in its table; 0 after refusing what is none. */
static int read_word(struct reader *reader, const struct json *object, const char *key,
		     const char *const *words, size_t n_words)
{
	const char *word = json_as_string(json_get(object, key), "");
	int found = name_find_word(words, n_words, word);

	if (found >= 0)
		return found;
	refuse(reader, key, "one of its words");
	return 0;
}

/* The elements of a list of at most `limit`, and room for what they become. */
static const struct json *read_list(struct reader *reader, const struct json *object,
				    const char *key, size_t limit, size_t element_size,
				    void **ret_elements, size_t *ret_count)
{
	const struct json *list = get(reader, object, key, JSON_ARRAY, "a list");

	if (json_count(list) > limit) {
		refuse(reader, key, "a shorter list");
		list = NULL;
	}
	*ret_count = json_count(list);
	*ret_elements = arena_take_array(reader->arena, *ret_count, element_size);
	return list;
}

static void read_condition(struct reader *reader, const struct json *object,
			   struct condition *condition)
{
	condition->type = (enum condition_type) read_word(reader, object, "type",
							  condition_type_words, CONDITION_COUNT);
	condition->is_true = text_equals(json_as_string(json_get(object, "status"), NULL), "True");
	condition->reason = read_text(reader, object, "reason");
	condition->message = read_text(reader, object, "message");
	condition->last_update = read_time(reader, object, "lastUpdateTime");
	condition->last_transition = read_time(reader, object, "lastTransitionTime");
}

static void read_conditions(struct reader *reader, const struct json *root, struct status *status)
{
	void *elements;
	const struct json *list =
		read_list(reader, root, "conditions", CONDITION_COUNT, sizeof(*status->conditions),
			  &elements, &status->n_conditions);

	status->conditions = elements;
	reader->list = "conditions";
	for (reader->index = 0; reader->index < status->n_conditions; reader->index++)
		read_condition(reader, json_at(list, reader->index),
			       &status->conditions[reader->index]);
	reader->list = NULL;
}

static int read_count(struct reader *reader, const struct json *object, const char *key)
{
	return (int) read_number(reader, object, key, 0, LIMIT_REPLICAS, 0);
}

static void read_roles(struct reader *reader, const struct json *root, struct status *status)
{
	const struct json *roles = get(reader, root, "replicaStatuses", JSON_OBJECT, "an object");
	const char *title;
	struct json *counts;

	status->roles = arena_take_array(reader->arena, json_count(roles), sizeof(*status->roles));
	reader->list = "replicaStatuses";
	for (reader->index = 0; json_member(roles, reader->index, &title, &counts); reader->index++)
		status->roles[status->n_roles++] = (struct role_status){
			.title = arena_copy_text(reader->arena, title),
			.active = read_count(reader, counts, "active"),
			.succeeded = read_count(reader, counts, "succeeded"),
			.failed = read_count(reader, counts, "failed"),
		};
	reader->list = NULL;
}

static void read_replica(struct reader *reader, const struct json *object,
			 struct replica_status *replica)
{
	*replica = (struct replica_status){
		.role = read_needed_text(reader, object, "role"),
		.index = read_index(reader, object),
		.attempt = read_restarts(reader, object, "attempt"),
		.restarts = read_restarts(reader, object, "restarts"),
		.recent_restarts = read_restarts(reader, object, "recentRestarts"),
		.restart_at = read_time(reader, object, "restartAt"),
		.state = (enum replica_state) read_word(reader, object, "state",
							replica_state_words, REPLICA_STATE_COUNT),
		.pid = read_number(reader, object, "pid", 0, INT32_MAX, 0),
		.address = read_text(reader, object, "address"),
		.exit_code = read_exit_code(reader, object),
		.signal = read_signal(reader, object),
		.reason = read_text(reader, object, "reason"),
		.message = read_text(reader, object, "message"),
		.start_time = read_time(reader, object, "startTime"),
		.end_time = read_time(reader, object, "endTime"),
		.log = read_text(reader, object, "log"),
		.gpus = read_text(reader, object, "gpus"),
		.pod = read_text(reader, object, "pod"),
		.node = read_text(reader, object, "node"),
		.ip = read_text(reader, object, "ip"),
	};
}

static void read_replicas(struct reader *reader, const struct json *root, struct status *status)
{
	void *elements;
	const struct json *list =
		read_list(reader, root, "replicas", (size_t) LIMIT_ROLES * LIMIT_REPLICAS,
			  sizeof(*status->replicas), &elements, &status->n_replicas);

	status->replicas = elements;
	reader->list = "replicas";
	for (reader->index = 0; reader->index < status->n_replicas; reader->index++)
		read_replica(reader, json_at(list, reader->index),
			     &status->replicas[reader->index]);
	reader->list = NULL;
}

static void read_last_lines(struct reader *reader, const struct json *object,
			    struct failure *failure)
{
	void *elements;
	const struct json *list =
		read_list(reader, object, "lastLines", LIMIT_LAST_LINES,
			  sizeof(*failure->last_lines), &elements, &failure->n_last_lines);

	failure->last_lines = elements;
	for (size_t i = 0; i < failure->n_last_lines; i++)
		failure->last_lines[i] =
			arena_copy_text(reader->arena, json_as_string(json_at(list, i), ""));
}

static void read_consequences(struct reader *reader, const struct json *object,
			      struct failure *failure)
{
	void *elements;
	const struct json *list =
		read_list(reader, object, "consequences", LIMIT_REPLICAS,
			  sizeof(*failure->consequences), &elements, &failure->n_consequences);

	failure->consequences = elements;
	reader->list = "failure.consequences";
	for (reader->index = 0; reader->index < failure->n_consequences; reader->index++) {
		const struct json *consequence = json_at(list, reader->index);

		failure->consequences[reader->index] = (struct consequence){
			.role = read_needed_text(reader, consequence, "role"),
			.index = read_index(reader, consequence),
			.what = read_needed_text(reader, consequence, "what"),
			.attempt = read_restarts(reader, consequence, "attempt"),
		};
	}
	reader->list = NULL;
}

static struct failure *read_failure(struct reader *reader, const struct json *root)
{
	const struct json *object = get(reader, root, "failure", JSON_OBJECT, "an object");

	if (!object)
		return NULL;

	struct failure *failure = arena_take(reader->arena, sizeof(*failure));

	failure->role = read_text(reader, object, "role");
	failure->index = read_index(reader, object);
	failure->attempt = read_restarts(reader, object, "attempt");
	failure->exit_code = read_exit_code(reader, object);
	failure->signal = read_signal(reader, object);
	failure->reason = read_text(reader, object, "reason");
	failure->message = read_text(reader, object, "message");
	failure->cause = read_text(reader, object, "cause");
	failure->time = read_time(reader, object, "time");
	failure->lived = read_number(reader, object, "livedMilliseconds", 0, INT64_MAX, 0);
	read_last_lines(reader, object, failure);
	read_consequences(reader, object, failure);
	return failure;
}

static void read_members(struct reader *reader, const struct json *root, struct status *status)
{
	read_conditions(reader, root, status);
	read_roles(reader, root, status);
	read_replicas(reader, root, status);
	status->start_time = read_time(reader, root, "startTime");
	status->completion_time = read_time(reader, root, "completionTime");
	status->exit_code = read_exit_code(reader, root);
	status->restarts = read_restarts(reader, root, "restarts");
	status->recent_restarts = read_restarts(reader, root, "recentRestarts");
	status->failure = read_failure(reader, root);
}

int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err)
{
	struct reader reader = {.arena = arena, .err = err};
	struct status status = {.exit_code = -1};

	if (!json_is(value, JSON_NULL) && !json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "status: expected an object");
	read_members(&reader, value, &status);
	if (reader.rc < 0)
		return reader.rc;
	*ret_status = status;
	return 0;
}
