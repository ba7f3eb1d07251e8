/* Writing turns structs into columns by the tables of status/fields.h. Reading turns columns into
 * the JSON of status/json.c, which defines the valid members. */
#include "reconcile/compact_status.h"

#include "base/text.h"
#include "spec/limits.h"
#include "status/fields.h"

#include <string.h>

#define GROUPS "replicaGroups"
#define REPLICAS "replicas"
#define CONSEQUENCE_GROUPS "consequenceGroups"
#define CONSEQUENCES "consequences"
#define FAILURE "failure"
#define SINCE "since"
#define STARTED "Started" /* STARTING or RUNNING */
#define CUT "failed" /* replaces a text that must not be omitted */

/* A list of elements: their fields begin with a role and an index; each other field is a column. */
struct table {
	size_t size;
	const struct status_field *fields;
};

#define ROLE_FIELD 0
#define INDEX_FIELD 1
#define FIRST_COLUMN 2

static const struct table replica_table = {sizeof(struct replica_status), status_replica_fields};
static const struct table consequence_table = {sizeof(struct consequence),
					       status_consequence_fields};

/* Writing. */

/* Drops what the Pod itself shows. */
static struct replica_status without_what_shows(const struct replica_status *replica)
{
	bool has_ended = replica_state_is_end(replica->state);
	struct replica_status kept = {
		.role = replica->role,
		.index = replica->index,
		.attempt = replica->attempt,
		.restarts = replica->restarts,
		.ends_in_place = replica->ends_in_place,
		.recent_restarts = replica->recent_restarts,
		.restart_at = replica->restart_at,
		.state = replica->state == REPLICA_RUNNING ? REPLICA_STARTING : replica->state,
		.exit_code = -1,
	};

	if (has_ended) {
		kept.exit_code = replica->exit_code;
		kept.signal = replica->signal;
		kept.start_time = replica->start_time;
		kept.end_time = replica->end_time;
	}
	if (has_ended || replica->is_reason_from_elsewhere) {
		kept.reason = replica->reason;
		kept.message = replica->message;
	}
	return kept;
}

/* Elements `first` to `end` - 1 of a list. */
struct group {
	const struct table *table;
	const char *elements;
	size_t first, end;
	msec since; /* MSEC_UNSET: no time is set */
	size_t room; /* left for the texts of one column */
};

static const void *field_at(const struct group *group, const struct status_field *field,
			    size_t place)
{
	return group->elements + place * group->table->size + field->offset;
}

static const char *role_at(const struct group *group, size_t place)
{
	return *(const char *const *) field_at(group, &group->table->fields[ROLE_FIELD], place);
}

static int index_at(const struct group *group, size_t place)
{
	return *(const int *) field_at(group, &group->table->fields[INDEX_FIELD], place);
}

static size_t end_of_run(const struct group *group, const struct status_field *field, size_t first)
{
	const void *at = field_at(group, field, first);
	size_t end = first + 1;

	while (end < group->end && status_field_is_equal(field, at, field_at(group, field, end)))
		end++;
	return end;
}

/* A one-word reason of a replica's end is never omitted. */
static const char *text_with_room(struct group *group, const struct status_field *field,
				  const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (text_equals(field->key, "reason"))
		return text;
	if (len > group->room)
		return field->kind == STATUS_NEEDED_TEXT ? CUT : NULL;
	group->room -= len;
	return text;
}

/* NULL if it is not set. */
static struct json *write_value(struct group *group, const struct status_field *field, size_t place)
{
	const void *at = field_at(group, field, place);
	int64_t number = 0;

	switch (field->kind) {
	case STATUS_TEXT:
	case STATUS_NEEDED_TEXT:
		return json_new_string(text_with_room(group, field, *(const char *const *) at));
	case STATUS_WORD:
		number = *(const int *) at;
		return json_new_string(number == REPLICA_STARTING ? STARTED : field->words[number]);
	case STATUS_TIME:
		number = *(const msec *) at;
		return number == MSEC_UNSET ? json_new_null()
					    : json_new_integer(number - group->since);
	case STATUS_TRUTH:
		return json_new_bool(*(const bool *) at);
	case STATUS_NUMBER:
	case STATUS_PLAIN_NUMBER:
		number = *(const int *) at;
		break;
	case STATUS_LONG_NUMBER:
		number = *(const int64_t *) at;
		break;
	}
	return number < 0 ? json_new_null() : json_new_integer(number);
}

static bool is_unset(const struct status_field *field, const struct json *value)
{
	return json_is(value, JSON_NULL) ||
	       (json_is(value, JSON_INTEGER) && field->kind != STATUS_TIME &&
		json_as_integer(value, 0) == field->least);
}

static struct json *run_new(struct json *take_value, size_t count)
{
	if (count == 1)
		return take_value;
	struct json *run = json_new_array();

	json_append(run, take_value);
	json_append(run, json_new_integer((int64_t) count));
	return run;
}

static void write_column(struct group *group, const struct status_field *field, struct json *object)
{
	size_t end = end_of_run(group, field, group->first);
	struct json *value = write_value(group, field, group->first);

	if (end == group->end) { /* all have this value */
		if (is_unset(field, value))
			json_free(value);
		else
			json_set(object, field->key, value);
		return;
	}
	struct json *list = json_array_at(object, field->key);

	json_append(list, run_new(value, end - group->first));
	for (size_t first = end; first < group->end; first = end) {
		end = end_of_run(group, field, first);
		json_append(list, run_new(write_value(group, field, first), end - first));
	}
}

/* "0-4,6" */
static void write_indices(const struct group *group, struct json *object)
{
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = group->first; i < group->end; i++) {
		int first = index_at(group, i), last = first;

		while (i + 1 < group->end && index_at(group, i + 1) == last + 1) {
			last++;
			i++;
		}
		text_addf(&text, "%s%d", text.len ? "," : "", first);
		if (last > first)
			text_addf(&text, "-%d", last);
	}
	json_set_string(object, "indices", text_of(&text));
}

static msec first_time(const struct group *group)
{
	msec since = MSEC_UNSET;

	for (const struct status_field *field = group->table->fields; field->key; field++)
		for (size_t i = group->first; field->kind == STATUS_TIME && i < group->end; i++) {
			msec time = *(const msec *) field_at(group, field, i);

			if (time != MSEC_UNSET && (since == MSEC_UNSET || time < since))
				since = time;
		}
	return since;
}

static struct json *write_group(struct group *group)
{
	struct json *object = json_new_object();

	json_set_string(object, "role", role_at(group, group->first));
	write_indices(group, object);
	group->since = first_time(group);
	json_set_time(object, SINCE, group->since);
	for (const struct status_field *field = group->table->fields + FIRST_COLUMN; field->key;
	     field++) {
		group->room = COMPACT_STATUS_TEXTS;
		write_column(group, field, object);
	}
	return object;
}

static struct json *write_groups(const struct table *table, const void *elements, size_t count)
{
	struct json *list = json_new_array();

	for (size_t first = 0; first < count;) {
		struct group group = {
			.table = table, .elements = elements, .first = first, .end = first + 1};

		while (group.end < count &&
		       text_equals(role_at(&group, first), role_at(&group, group.end)))
			group.end++;
		json_append(list, write_group(&group));
		first = group.end;
	}
	return list;
}

static struct json *write_replicas(const struct status *status)
{
	struct replica_status *kept CLEANUP(mem_free_any) =
		mem_new_array(status->n_replicas, sizeof(*kept));

	for (size_t i = 0; i < status->n_replicas; i++)
		kept[i] = without_what_shows(&status->replicas[i]);
	return write_groups(&replica_table, kept, status->n_replicas);
}

struct json *compact_status_write(const struct status *status)
{
	struct status rest = *status;
	struct failure failure;

	rest.n_replicas = 0;
	if (!status_condition_is_true(status, CONDITION_SUCCEEDED))
		rest.n_roles = 0;
	if (status->failure) {
		failure = *status->failure;
		failure.n_consequences = 0;
		rest.failure = &failure;
	}
	struct json *object = status_write(&rest);

	json_remove(object, REPLICAS);
	if (status->failure && status->failure->n_consequences)
		json_set(json_get(object, FAILURE), CONSEQUENCE_GROUPS,
			 write_groups(&consequence_table, status->failure->consequences,
				      status->failure->n_consequences));
	json_set(object, GROUPS, write_replicas(status));
	return object;
}

/* Reading. */

struct reader {
	const char *list; /* the list being expanded, for messages */
	size_t place; /* index of the group */
	struct err *err;
	int rc;
};

static void set_status_member_error(struct reader *reader, const char *key, const char *expected)
{
	if (reader->rc == 0)
		reader->rc = err_set(reader->err, ERR_INVALID, "status.%s[%zu].%s: expected %s",
				     reader->list, reader->place, key, expected);
}

static bool read_index(const char **at, int *ret_index)
{
	const char *begin = *at;
	int number = 0;

	for (; **at >= '0' && **at <= '9' && number < LIMIT_REPLICAS; (*at)++)
		number = number * 10 + (**at - '0');
	*ret_index = number;
	return *at > begin && number < LIMIT_REPLICAS;
}

static bool read_range(const char **at, int *ret_first, int *ret_last)
{
	if (!read_index(at, ret_first))
		return false;
	*ret_last = *ret_first;
	if (**at == '-') {
		(*at)++;
		if (!read_index(at, ret_last) || *ret_last < *ret_first)
			return false;
	}
	if (**at == ',')
		return *++*at != '\0';
	return **at == '\0';
}

/* An object with the role for each index; NULL if the indices are invalid. */
static struct json *begin_elements(const struct json *group)
{
	const char *at = json_as_string(json_get(group, "indices"), "");
	struct json *list = json_new_array();
	int first, last;

	do {
		if (!read_range(&at, &first, &last) || json_count(list) > LIMIT_REPLICAS) {
			json_free(list);
			return NULL;
		}
		for (int index = first; index <= last; index++) {
			struct json *element = json_new_object();
			struct json *role = json_get(group, "role");

			if (role)
				json_set(element, "role", json_ref(role));
			json_set_integer(element, "index", index);
			json_append(list, element);
		}
	} while (*at);
	return list;
}

/* The values of a column, one for each element. */
struct cursor {
	const struct json *column;
	size_t place;
	int64_t left; /* in the run at `place`, once begun */
};

static const struct json *next_value(struct cursor *cursor)
{
	if (!json_is(cursor->column, JSON_ARRAY))
		return cursor->column;
	const struct json *run = json_at(cursor->column, cursor->place);
	bool is_run = json_is(run, JSON_ARRAY);

	if (cursor->left <= 0)
		cursor->left = is_run ? json_as_integer(json_at(run, 1), 0) : 1;
	if (--cursor->left <= 0)
		cursor->place++;
	return is_run ? json_at(run, 0) : run;
}

static bool is_at_end(const struct cursor *cursor)
{
	return !json_is(cursor->column, JSON_ARRAY) ||
	       (cursor->left == 0 && cursor->place == json_count(cursor->column));
}

static void set_time(struct reader *reader, struct json *element, const char *key, msec since,
		     const struct json *value)
{
	int64_t after = json_as_integer(value, -1);

	if (after < 0 || since == MSEC_UNSET || after > INT64_MAX - since)
		set_status_member_error(reader, key, "milliseconds after \"since\"");
	else
		json_set_time(element, key, since + after);
}

static void set_value(struct reader *reader, const struct status_field *field, msec since,
		      const struct json *value, struct json *element)
{
	bool is_started =
		field->kind == STATUS_WORD && text_equals(json_as_string(value, NULL), STARTED);

	if (json_is(value, JSON_NULL))
		return;
	if (field->kind == STATUS_TIME)
		set_time(reader, element, field->key, since, value);
	else if (is_started)
		json_set_string(element, field->key, field->words[REPLICA_STARTING]);
	else
		json_set(element, field->key, json_new_copy(value));
}

static void unfold_column(struct reader *reader, const struct status_field *field,
			  const struct json *group, struct json *elements)
{
	struct cursor cursor = {.column = json_get(group, field->key)};
	msec since = MSEC_UNSET;

	if (text_read_time(json_as_string(json_get(group, SINCE), ""), &since, NULL) < 0)
		since = MSEC_UNSET;
	for (size_t i = 0; i < json_count(elements) && reader->rc == 0; i++)
		set_value(reader, field, since, next_value(&cursor), json_at(elements, i));
	if (!is_at_end(&cursor))
		set_status_member_error(reader, field->key,
					"one value, or one for each of its indices");
}

static void unfold_group(struct reader *reader, const struct table *table, const struct json *group,
			 struct json *list)
{
	struct json *elements CLEANUP(json_cleanup) = begin_elements(group);

	if (!elements || json_count(list) > (size_t) LIMIT_ROLES * LIMIT_REPLICAS) {
		set_status_member_error(reader, "indices",
					elements ? "fewer" : "ranges, as \"0-4,6\"");
		return;
	}
	for (const struct status_field *field = table->fields + FIRST_COLUMN; field->key; field++)
		unfold_column(reader, field, group, elements);
	for (size_t i = 0; i < json_count(elements); i++)
		json_append(list, json_ref(json_at(elements, i)));
}

/* Expands the groups of an object into the list that they represent. */
static int unfold(struct json *object, const char *groups_key, const char *key,
		  const struct table *table, struct err *err)
{
	struct reader reader = {.list = groups_key, .err = err};
	const struct json *groups = json_get(object, groups_key);
	struct json *list = NULL;

	if (!groups)
		return 0;
	list = json_new_array();
	for (; reader.place < json_count(groups) && reader.rc == 0; reader.place++)
		unfold_group(&reader, table, json_at(groups, reader.place), list);
	json_set(object, key, list);
	json_remove(object, groups_key);
	return reader.rc;
}

int compact_status_unfold(struct json *status, struct err *err)
{
	int rc = unfold(status, GROUPS, REPLICAS, &replica_table, err);

	return rc < 0 ? rc
		      : unfold(json_get(status, FAILURE), CONSEQUENCE_GROUPS, CONSEQUENCES,
			       &consequence_table, err);
}

int compact_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
			struct err *err)
{
	if (!json_get(value, GROUPS))
		return status_read(value, arena, ret_status, err);
	struct json *whole CLEANUP(json_cleanup) = json_new_copy(value);
	int rc = compact_status_unfold(whole, err);

	return rc < 0 ? rc : status_read(whole, arena, ret_status, err);
}
