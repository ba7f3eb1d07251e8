/* A job's status as JSON and back, by one table for each struct. What is not set is not written, as
 * Kubernetes' `omitempty`. */
#include "core/status.h"

#include "base/names.h"
#include "base/text.h"
#include "core/limits.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define SIGNAL_MAX 127 /* what a wait status has room for */

enum member_kind {
	TEXT,
	NEEDED_TEXT,
	TIME,
	TRUTH, /* a bool, as "True" or "False" */
	WORD, /* an enum, by its table */
	NUMBER, /* an int */
	PLAIN_NUMBER, /* the same, which is written also when it is the least */
	LONG_NUMBER, /* an int64_t */
};

/* Every number has a range: a status lies on disk, where hands can reach it, and a decision counts
 * on with these. */
struct member {
	const char *key; /* NULL: behind the last */
	enum member_kind kind;
	size_t offset;
	int64_t least, most; /* of a number; the least is that of one which is not set */
	const char *const *words; /* of a WORD, `most` of them */
};

static const struct member condition_members[] = {
	{"type", WORD, offsetof(struct condition, type), 0, CONDITION_COUNT, condition_type_words},
	{"status", TRUTH, offsetof(struct condition, is_true)},
	{"reason", TEXT, offsetof(struct condition, reason)},
	{"message", TEXT, offsetof(struct condition, message)},
	{"lastUpdateTime", TIME, offsetof(struct condition, last_update)},
	{"lastTransitionTime", TIME, offsetof(struct condition, last_transition)},
	{0},
};

static const struct member role_members[] = {
	{"active", NUMBER, offsetof(struct role_status, active), 0, LIMIT_REPLICAS},
	{"succeeded", NUMBER, offsetof(struct role_status, succeeded), 0, LIMIT_REPLICAS},
	{"failed", NUMBER, offsetof(struct role_status, failed), 0, LIMIT_REPLICAS},
	{0},
};

static const struct member replica_members[] = {
	{"role", NEEDED_TEXT, offsetof(struct replica_status, role)},
	{"index", PLAIN_NUMBER, offsetof(struct replica_status, index), 0, LIMIT_REPLICAS - 1},
	{"attempt", PLAIN_NUMBER, offsetof(struct replica_status, attempt), 0, LIMIT_RESTARTS},
	{"state", WORD, offsetof(struct replica_status, state), 0, REPLICA_STATE_COUNT,
	 replica_state_words},
	{"pid", LONG_NUMBER, offsetof(struct replica_status, pid), 0, INT32_MAX},
	{"address", TEXT, offsetof(struct replica_status, address)},
	{"exitCode", NUMBER, offsetof(struct replica_status, exit_code), -1, INT32_MAX},
	{"signal", NUMBER, offsetof(struct replica_status, signal), 0, SIGNAL_MAX},
	{"reason", TEXT, offsetof(struct replica_status, reason)},
	{"message", TEXT, offsetof(struct replica_status, message)},
	{"startTime", TIME, offsetof(struct replica_status, start_time)},
	{"endTime", TIME, offsetof(struct replica_status, end_time)},
	{"restarts", PLAIN_NUMBER, offsetof(struct replica_status, restarts), 0, LIMIT_RESTARTS},
	{"recentRestarts", NUMBER, offsetof(struct replica_status, recent_restarts), 0,
	 LIMIT_RESTARTS},
	{"restartAt", TIME, offsetof(struct replica_status, restart_at)},
	{"log", TEXT, offsetof(struct replica_status, log)},
	{"gpus", TEXT, offsetof(struct replica_status, gpus)},
	{"pod", TEXT, offsetof(struct replica_status, pod)},
	{"node", TEXT, offsetof(struct replica_status, node)},
	{"ip", TEXT, offsetof(struct replica_status, ip)},
	{0},
};

static const struct member consequence_members[] = {
	{"role", NEEDED_TEXT, offsetof(struct consequence, role)},
	{"index", PLAIN_NUMBER, offsetof(struct consequence, index), 0, LIMIT_REPLICAS - 1},
	{"attempt", PLAIN_NUMBER, offsetof(struct consequence, attempt), 0, LIMIT_RESTARTS},
	{"what", NEEDED_TEXT, offsetof(struct consequence, what)},
	{0},
};

/* Of a failure that is not the job's own: a deadline, a request to stop. */
static const struct member failed_replica_members[] = {
	{"role", TEXT, offsetof(struct failure, role)},
	{"index", PLAIN_NUMBER, offsetof(struct failure, index), 0, LIMIT_REPLICAS - 1},
	{"attempt", PLAIN_NUMBER, offsetof(struct failure, attempt), 0, LIMIT_RESTARTS},
	{0},
};

static const struct member failure_members[] = {
	{"exitCode", NUMBER, offsetof(struct failure, exit_code), -1, INT32_MAX},
	{"signal", NUMBER, offsetof(struct failure, signal), 0, SIGNAL_MAX},
	{"reason", TEXT, offsetof(struct failure, reason)},
	{"message", TEXT, offsetof(struct failure, message)},
	{"cause", TEXT, offsetof(struct failure, cause)},
	{"time", TIME, offsetof(struct failure, time)},
	{"livedMilliseconds", LONG_NUMBER, offsetof(struct failure, lived), 0, INT64_MAX},
	{0},
};

static const struct member status_members[] = {
	{"startTime", TIME, offsetof(struct status, start_time)},
	{"completionTime", TIME, offsetof(struct status, completion_time)},
	{"endingSince", TIME, offsetof(struct status, ending_since)},
	{"exitCode", NUMBER, offsetof(struct status, exit_code), -1, INT32_MAX},
	{"restarts", NUMBER, offsetof(struct status, restarts), 0, LIMIT_RESTARTS},
	{"recentRestarts", NUMBER, offsetof(struct status, recent_restarts), 0, LIMIT_RESTARTS},
	{0},
};

/* Writing. */

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

static void set_member(struct json *object, const struct member *member, const void *at)
{
	switch (member->kind) {
	case TEXT:
	case NEEDED_TEXT:
		json_set_string(object, member->key, *(const char *const *) at);
		break;
	case TIME:
		set_time(object, member->key, *(const msec *) at);
		break;
	case TRUTH:
		json_set_string(object, member->key, *(const bool *) at ? "True" : "False");
		break;
	case WORD:
		json_set_string(object, member->key, member->words[*(const int *) at]);
		break;
	case NUMBER:
		set_unless(object, member->key, *(const int *) at, member->least);
		break;
	case PLAIN_NUMBER:
		json_set_integer(object, member->key, *(const int *) at);
		break;
	case LONG_NUMBER:
		set_unless(object, member->key, *(const int64_t *) at, member->least);
		break;
	}
}

static void set_members(struct json *object, const struct member *members, const void *from)
{
	for (; members->key; members++)
		set_member(object, members, (const char *) from + members->offset);
}

static void set_list(struct json *object, const char *key, const struct member *members,
		     const void *elements, size_t count, size_t size)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++) {
		struct json *element = json_new_object();

		set_members(element, members, (const char *) elements + i * size);
		json_append(list, element);
	}
	json_set(object, key, list);
}

static void set_last_lines(struct json *object, const struct failure *failure)
{
	struct json *lines = json_array_at(object, "lastLines");

	for (size_t i = 0; i < failure->n_last_lines; i++)
		json_append(lines, json_new_string(failure->last_lines[i]));
}

static void set_failure(struct json *status, const struct failure *failure)
{
	struct json *object = json_object_at(status, "failure");

	if (failure->role)
		set_members(object, failed_replica_members, failure);
	set_members(object, failure_members, failure);
	if (failure->n_last_lines > 0)
		set_last_lines(object, failure);
	if (failure->n_consequences > 0)
		set_list(object, "consequences", consequence_members, failure->consequences,
			 failure->n_consequences, sizeof(*failure->consequences));
}

struct json *status_write(const struct status *status)
{
	struct json *object = json_new_object();

	set_list(object, "conditions", condition_members, status->conditions, status->n_conditions,
		 sizeof(*status->conditions));
	struct json *roles = json_object_at(object, "replicaStatuses");

	for (size_t i = 0; i < status->n_roles; i++)
		set_members(json_object_at(roles, status->roles[i].title), role_members,
			    &status->roles[i]);
	set_members(object, status_members, status);
	if (status->failure)
		set_failure(object, status->failure);
	set_list(object, "replicas", replica_members, status->replicas, status->n_replicas,
		 sizeof(*status->replicas));
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

static int64_t read_number(struct reader *reader, const struct json *object,
			   const struct member *member)
{
	struct json *value = get(reader, object, member->key, JSON_INTEGER, "a whole number");
	int64_t number = json_as_integer(value, member->least);
	char expected[80];

	if (!value || (number >= member->least && number <= member->most))
		return number;
	snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64,
		 member->least, member->most);
	refuse(reader, member->key, expected);
	return member->least;
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
static int read_word(struct reader *reader, const struct json *object, const struct member *member)
{
	const char *word = json_as_string(json_get(object, member->key), "");
	int found = name_find_word(member->words, (size_t) member->most, word);

	if (found >= 0)
		return found;
	refuse(reader, member->key, "one of its words");
	return 0;
}

static void read_member(struct reader *reader, const struct json *object,
			const struct member *member, void *at)
{
	switch (member->kind) {
	case TEXT:
		*(const char **) at = read_text(reader, object, member->key);
		break;
	case NEEDED_TEXT:
		*(const char **) at = read_needed_text(reader, object, member->key);
		break;
	case TIME:
		*(msec *) at = read_time(reader, object, member->key);
		break;
	case TRUTH:
		*(bool *) at =
			text_equals(json_as_string(json_get(object, member->key), NULL), "True");
		break;
	case WORD:
		*(int *) at = read_word(reader, object, member);
		break;
	case NUMBER:
	case PLAIN_NUMBER:
		*(int *) at = (int) read_number(reader, object, member);
		break;
	case LONG_NUMBER:
		*(int64_t *) at = read_number(reader, object, member);
		break;
	}
}

static void read_members(struct reader *reader, const struct json *object,
			 const struct member *members, void *into)
{
	for (; members->key; members++)
		read_member(reader, object, members, (char *) into + members->offset);
}

/* A list of at most `limit` elements. */
static const struct json *find_list(struct reader *reader, const struct json *object,
				    const char *key, size_t limit)
{
	const struct json *list = get(reader, object, key, JSON_ARRAY, "a list");

	if (json_count(list) <= limit)
		return list;
	refuse(reader, key, "a shorter list");
	return NULL;
}

/* Gives the elements, each of `size` bytes; `path` names the list in sentences. */
static void *read_list(struct reader *reader, const struct json *list, const char *path,
		       const struct member *members, size_t size, size_t *ret_count)
{
	size_t count = json_count(list);
	char *elements = arena_take_array(reader->arena, count, size);

	reader->list = path;
	for (reader->index = 0; reader->index < count; reader->index++)
		read_members(reader, json_at(list, reader->index), members,
			     elements + reader->index * size);
	reader->list = NULL;
	*ret_count = count;
	return elements;
}

static void read_roles(struct reader *reader, const struct json *root, struct status *status)
{
	const struct json *roles = get(reader, root, "replicaStatuses", JSON_OBJECT, "an object");
	const char *title;
	struct json *counts;

	status->roles = arena_take_array(reader->arena, json_count(roles), sizeof(*status->roles));
	reader->list = "replicaStatuses";
	for (reader->index = 0; json_member(roles, reader->index, &title, &counts);
	     reader->index++) {
		struct role_status *role = &status->roles[status->n_roles++];

		role->title = arena_copy_text(reader->arena, title);
		read_members(reader, counts, role_members, role);
	}
	reader->list = NULL;
}

static void read_last_lines(struct reader *reader, const struct json *object,
			    struct failure *failure)
{
	const struct json *list = find_list(reader, object, "lastLines", LIMIT_LAST_LINES);

	failure->n_last_lines = json_count(list);
	failure->last_lines = arena_take_array(reader->arena, failure->n_last_lines,
					       sizeof(*failure->last_lines));
	for (size_t i = 0; i < failure->n_last_lines; i++)
		failure->last_lines[i] =
			arena_copy_text(reader->arena, json_as_string(json_at(list, i), ""));
}

static struct failure *read_failure(struct reader *reader, const struct json *root)
{
	const struct json *object = get(reader, root, "failure", JSON_OBJECT, "an object");

	if (!object)
		return NULL;
	struct failure *failure = arena_take(reader->arena, sizeof(*failure));

	read_members(reader, object, failed_replica_members, failure);
	read_members(reader, object, failure_members, failure);
	read_last_lines(reader, object, failure);
	failure->consequences =
		read_list(reader, find_list(reader, object, "consequences", LIMIT_REPLICAS),
			  "failure.consequences", consequence_members,
			  sizeof(*failure->consequences), &failure->n_consequences);
	return failure;
}

static void read_all(struct reader *reader, const struct json *root, struct status *status)
{
	status->conditions = read_list(
		reader, find_list(reader, root, "conditions", CONDITION_COUNT), "conditions",
		condition_members, sizeof(*status->conditions), &status->n_conditions);
	read_roles(reader, root, status);
	status->replicas = read_list(
		reader, find_list(reader, root, "replicas", (size_t) LIMIT_ROLES * LIMIT_REPLICAS),
		"replicas", replica_members, sizeof(*status->replicas), &status->n_replicas);
	read_members(reader, root, status_members, status);
	status->failure = read_failure(reader, root);
}

int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err)
{
	struct reader reader = {.arena = arena, .err = err};
	struct status status = {.exit_code = -1};

	if (!json_is(value, JSON_NULL) && !json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "status: expected an object");
	read_all(&reader, value, &status);
	if (reader.rc < 0)
		return reader.rc;
	*ret_status = status;
	return 0;
}
