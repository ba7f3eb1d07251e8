/* A job's status as JSON and back, by one table for each struct. Unset fields are not written, as
 * with Kubernetes' `omitempty`. */
#include "status/status.h"

#include "base/names.h"
#include "base/text.h"
#include "spec/limits.h"
#include "status/fields.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MOST_FOREIGN_CONDITIONS 32

/* Writing. */

static void set_unless(struct json *object, const char *key, int64_t number, int64_t unset)
{
	if (number != unset)
		json_set_integer(object, key, number);
}

static void set_field(struct json *object, const struct status_field *field, const void *at)
{
	switch (field->kind) {
	case STATUS_TEXT:
	case STATUS_NEEDED_TEXT:
		json_set_string(object, field->key, *(const char *const *) at);
		break;
	case STATUS_TIME:
		json_set_time(object, field->key, *(const msec *) at);
		break;
	case STATUS_TRUTH:
		json_set_string(object, field->key, *(const bool *) at ? "True" : "False");
		break;
	case STATUS_WORD:
		json_set_string(object, field->key, field->words[*(const int *) at]);
		break;
	case STATUS_NUMBER:
		set_unless(object, field->key, *(const int *) at, field->least);
		break;
	case STATUS_PLAIN_NUMBER:
		json_set_integer(object, field->key, *(const int *) at);
		break;
	case STATUS_LONG_NUMBER:
		set_unless(object, field->key, *(const int64_t *) at, field->least);
		break;
	}
}

static void set_fields(struct json *object, const struct status_field *fields, const void *from)
{
	for (; fields->key; fields++)
		set_field(object, fields, (const char *) from + fields->offset);
}

static void set_list(struct json *object, const char *key, const struct status_field *fields,
		     const void *elements, size_t count, size_t size)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++) {
		struct json *element = json_new_object();

		set_fields(element, fields, (const char *) elements + i * size);
		json_append(list, element);
	}
	json_set(object, key, list);
}

static void set_lines(struct json *object, const char *key, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_append(json_array_at(object, key), json_new_string(lines[i]));
}

struct json *status_failure_write(const struct failure *failure)
{
	struct json *object = json_new_object();

	if (failure->role || failure->machine)
		set_fields(object, status_failed_replica_fields, failure);
	set_fields(object, status_failure_fields, failure);
	set_lines(object, "lastLines", failure->last_lines, failure->n_last_lines);
	set_lines(object, "stacks", failure->stacks, failure->n_stacks);
	if (failure->n_consequences > 0)
		set_list(object, "consequences", status_consequence_fields, failure->consequences,
			 failure->n_consequences, sizeof(*failure->consequences));
	return object;
}

static void append_all(struct json *list, const struct json *elements)
{
	for (size_t i = 0; i < json_count(elements); i++)
		json_append(list, json_ref(json_at(elements, i)));
}

static void add_foreign_conditions(struct json *conditions, const char *text)
{
	struct json *foreign CLEANUP(json_cleanup) = NULL;

	if (text && json_read(text, strlen(text), &foreign, NULL) == 0)
		append_all(conditions, foreign);
}

struct json *status_write(const struct status *status)
{
	struct json *object = json_new_object();

	set_list(object, "conditions", status_condition_fields, status->conditions,
		 status->n_conditions, sizeof(*status->conditions));
	add_foreign_conditions(json_get(object, "conditions"), status->foreign_conditions);
	for (size_t i = 0; i < status->n_roles; i++) {
		struct json *roles = json_object_at(object, "replicaStatuses");

		set_fields(json_object_at(roles, status->roles[i].title), status_role_fields,
			   &status->roles[i]);
	}
	set_fields(object, status_fields, status);
	if (status->failure)
		json_set(object, "failure", status_failure_write(status->failure));
	set_list(object, "replicas", status_replica_fields, status->replicas, status->n_replicas,
		 sizeof(*status->replicas));
	return object;
}

/* Reading. `rc` keeps the first error and the rest is still read, so that no reading function needs
 * to be checked. */
struct reader {
	struct arena *arena;
	struct err *err;
	int rc;
	const char *list; /* the current list: "replicas", or NULL at the top */
	size_t index; /* in that list */
};

static void refuse_status_member(struct reader *reader, const char *key, const char *expected)
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

/* The member if it exists with this type; else NULL. */
static struct json *get_typed_member(struct reader *reader, const struct json *object,
				     const char *key, enum json_type type, const char *expected)
{
	struct json *value = json_get(object, key);

	if (json_is(value, JSON_NULL))
		return NULL;
	if (json_is(value, type))
		return value;
	refuse_status_member(reader, key, expected);
	return NULL;
}

/* NULL if invalid (with an error) or absent. */
static const char *read_text_member(struct reader *reader, const struct json *object,
				    const struct status_field *field)
{
	const char *text = json_as_string(
		get_typed_member(reader, object, field->key, JSON_STRING, "text"), NULL);

	if (!text || !field->accepts || field->accepts(text))
		return arena_copy_text(reader->arena, text);
	refuse_status_member(reader, field->key, "a name");
	return NULL;
}

static const char *read_needed_text(struct reader *reader, const struct json *object,
				    const struct status_field *field)
{
	const char *text = read_text_member(reader, object, field);

	if (text)
		return text;
	refuse_status_member(reader, field->key, "text");
	return "";
}

static int64_t read_number_member(struct reader *reader, const struct json *object,
				  const struct status_field *field)
{
	struct json *value =
		get_typed_member(reader, object, field->key, JSON_INTEGER, "a whole number");
	int64_t number = json_as_integer(value, field->least);
	char expected[80];

	if (!value || (number >= field->least && number <= field->most))
		return number;
	snprintf(expected, sizeof(expected), "a whole number from %" PRId64 " to %" PRId64,
		 field->least, field->most);
	refuse_status_member(reader, field->key, expected);
	return field->least;
}

static msec read_time(struct reader *reader, const struct json *object, const char *key)
{
	const char *text = json_as_string(
		get_typed_member(reader, object, key, JSON_STRING, "a time (RFC 3339)"), NULL);
	msec time = MSEC_UNSET;

	if (text && text_read_time(text, &time, NULL) < 0)
		refuse_status_member(reader, key, "a time (RFC 3339)");
	return time;
}

/* Index of a word in its table; 0 if invalid, with an error. */
static int read_word(struct reader *reader, const struct json *object,
		     const struct status_field *field)
{
	const char *word = json_as_string(json_get(object, field->key), "");
	int found = name_find_word(field->words, (size_t) field->most, word);

	if (found >= 0)
		return found;
	refuse_status_member(reader, field->key, "one of its words");
	return 0;
}

static void read_status_field(struct reader *reader, const struct json *object,
			      const struct status_field *field, void *at)
{
	switch (field->kind) {
	case STATUS_TEXT:
		*(const char **) at = read_text_member(reader, object, field);
		break;
	case STATUS_NEEDED_TEXT:
		*(const char **) at = read_needed_text(reader, object, field);
		break;
	case STATUS_TIME:
		*(msec *) at = read_time(reader, object, field->key);
		break;
	case STATUS_TRUTH:
		*(bool *) at =
			text_equals(json_as_string(json_get(object, field->key), NULL), "True");
		break;
	case STATUS_WORD:
		*(int *) at = read_word(reader, object, field);
		break;
	case STATUS_NUMBER:
	case STATUS_PLAIN_NUMBER:
		*(int *) at = (int) read_number_member(reader, object, field);
		break;
	case STATUS_LONG_NUMBER:
		*(int64_t *) at = read_number_member(reader, object, field);
		break;
	}
}

static void read_fields(struct reader *reader, const struct json *object,
			const struct status_field *fields, void *into)
{
	for (; fields->key; fields++)
		read_status_field(reader, object, fields, (char *) into + fields->offset);
}

/* A list of at most `limit` elements. */
static const struct json *find_list(struct reader *reader, const struct json *object,
				    const char *key, size_t limit)
{
	const struct json *list = get_typed_member(reader, object, key, JSON_ARRAY, "a list");

	if (json_count(list) <= limit)
		return list;
	refuse_status_member(reader, key, "a shorter list");
	return NULL;
}

/* Returns the elements, each of `size` bytes; `path` names the list in messages. */
static void *read_struct_list(struct reader *reader, const struct json *list, const char *path,
			      const struct status_field *fields, size_t size, size_t *ret_count)
{
	size_t count = json_count(list);
	char *elements = arena_take_array(reader->arena, count, size);

	reader->list = path;
	for (reader->index = 0; reader->index < count; reader->index++)
		read_fields(reader, json_at(list, reader->index), fields,
			    elements + reader->index * size);
	reader->list = NULL;
	*ret_count = count;
	return elements;
}

static void read_roles(struct reader *reader, const struct json *root, struct status *status)
{
	const struct json *roles =
		get_typed_member(reader, root, "replicaStatuses", JSON_OBJECT, "an object");
	const char *title = NULL;
	struct json *counts;

	status->roles = arena_take_array(reader->arena, json_count(roles), sizeof(*status->roles));
	reader->list = "replicaStatuses";
	for (reader->index = 0; json_next(roles, &title, &counts); reader->index++) {
		struct role_status *role = &status->roles[status->n_roles++];

		role->title = arena_copy_text(reader->arena, title);
		read_fields(reader, counts, status_role_fields, role);
	}
	reader->list = NULL;
}

static const char **read_lines(struct reader *reader, const struct json *object, const char *key,
			       size_t limit, size_t *ret_count)
{
	const struct json *list = find_list(reader, object, key, limit);
	size_t count = json_count(list);
	const char **lines = arena_take_array(reader->arena, count, sizeof(*lines));

	for (size_t i = 0; i < count; i++)
		lines[i] = arena_copy_text(reader->arena, json_as_string(json_at(list, i), ""));
	*ret_count = count;
	return lines;
}

static struct failure *read_failure_object(struct reader *reader, const struct json *object)
{
	struct failure *failure = arena_take(reader->arena, sizeof(*failure));

	read_fields(reader, object, status_failed_replica_fields, failure);
	read_fields(reader, object, status_failure_fields, failure);
	failure->last_lines =
		read_lines(reader, object, "lastLines", LIMIT_LAST_LINES, &failure->n_last_lines);
	failure->stacks = read_lines(reader, object, "stacks", LIMIT_STACKS, &failure->n_stacks);
	failure->consequences =
		read_struct_list(reader, find_list(reader, object, "consequences", LIMIT_REPLICAS),
				 "failure.consequences", status_consequence_fields,
				 sizeof(*failure->consequences), &failure->n_consequences);
	return failure;
}

static bool is_foreign(const struct json *condition)
{
	const char *type = json_as_string(json_get(condition, "type"), NULL);

	return type && name_find_word(condition_type_words, CONDITION_COUNT, type) < 0;
}

/* Another controller may have its own conditions in the status. */
static void read_conditions(struct reader *reader, const struct json *root, struct status *status)
{
	const struct json *list =
		find_list(reader, root, "conditions", CONDITION_COUNT + MOST_FOREIGN_CONDITIONS);
	struct json *own CLEANUP(json_cleanup) = json_new_array();
	struct json *foreign CLEANUP(json_cleanup) = json_new_array();
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < json_count(list); i++) {
		struct json *condition = json_at(list, i);

		json_append(is_foreign(condition) ? foreign : own, json_ref(condition));
	}
	if (json_count(own) > CONDITION_COUNT)
		refuse_status_member(reader, "conditions", "a shorter list");
	status->conditions = read_struct_list(reader, own, "conditions", status_condition_fields,
					      sizeof(*status->conditions), &status->n_conditions);
	if (json_count(foreign) == 0)
		return;
	json_add_compact(&text, foreign);
	status->foreign_conditions = arena_copy_text(reader->arena, text_of(&text));
}

static void read_whole_status(struct reader *reader, const struct json *root, struct status *status)
{
	read_conditions(reader, root, status);
	read_roles(reader, root, status);
	status->replicas = read_struct_list(
		reader, find_list(reader, root, "replicas", (size_t) LIMIT_ROLES * LIMIT_REPLICAS),
		"replicas", status_replica_fields, sizeof(*status->replicas), &status->n_replicas);
	read_fields(reader, root, status_fields, status);
	const struct json *failure =
		get_typed_member(reader, root, "failure", JSON_OBJECT, "an object");

	status->failure = failure ? read_failure_object(reader, failure) : NULL;
}

int status_failure_read(const struct json *value, struct arena *arena, struct failure **ret_failure,
			struct err *err)
{
	struct reader reader = {.arena = arena, .err = err};

	if (!json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "expected an object");
	*ret_failure = read_failure_object(&reader, value);
	return reader.rc;
}

int status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		struct err *err)
{
	struct reader reader = {.arena = arena, .err = err};
	struct status status = {.exit_code = -1};

	if (!json_is(value, JSON_NULL) && !json_is(value, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "status: expected an object");
	read_whole_status(&reader, value, &status);
	if (reader.rc < 0)
		return reader.rc;
	*ret_status = status;
	return 0;
}
