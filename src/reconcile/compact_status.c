/* Groups elements that are alike, and expands such groups, in the JSON of status/status.c. */
#include "reconcile/compact_status.h"

#include "spec/limits.h"

#define REPLICAS "replicas"
#define FAILURE "failure"
#define CONSEQUENCES "consequences"
#define INDICES "indices"
#define STATE "state"
#define STARTED "Started" /* STARTING or RUNNING */
#define CUT "failed" /* replaces a text that must not be omitted */

#define FIRST_FIELD 2 /* after role and index */
#define LOOK_BACK 8 /* groups that an element is compared with */
#define DETAILED_GROUPS 3000 /* beyond it, what no decision needs is omitted */

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

/* Elements of one role that are alike. */
struct group {
	const char *element; /* the first one */
	struct text indices; /* "0-4,6", without the last run */
	int first, last; /* the last run */
};

struct groups {
	const struct json_field *fields;
	struct group *all;
	size_t count, capacity;
};

static void groups_done(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		text_done(&groups->all[i].indices);
	free(groups->all);
}

static const char *role_of(const struct groups *groups, const char *element)
{
	return *(const char *const *) (element + groups->fields[0].offset);
}

static void end_run(struct group *group)
{
	text_addf(&group->indices, "%s%d", group->indices.len ? "," : "", group->first);
	if (group->last > group->first)
		text_addf(&group->indices, "-%d", group->last);
}

/* One of the last groups, if it is of this role and like it; or NULL. */
static struct group *find_group(const struct groups *groups, const char *element)
{
	for (size_t i = groups->count; i > 0 && i + LOOK_BACK > groups->count; i--) {
		struct group *group = &groups->all[i - 1];

		if (!text_equals(role_of(groups, group->element), role_of(groups, element)))
			return NULL;
		if (fields_equal(groups->fields + FIRST_FIELD, group->element, element))
			return group;
	}
	return NULL;
}

static void add_element(struct groups *groups, const char *element)
{
	int index = *(const int *) (element + groups->fields[1].offset);
	struct group *group = find_group(groups, element);

	if (!group) {
		mem_grow(&groups->all, &groups->capacity, groups->count, sizeof(*groups->all));
		groups->all[groups->count++] =
			(struct group){.element = element, .first = index, .last = index};
		return;
	}
	if (index != group->last + 1) {
		end_run(group);
		group->first = index;
	}
	group->last = index;
}

static struct groups group_elements(const struct json_field *fields, const void *elements,
				    size_t count, size_t size)
{
	struct groups groups = {.fields = fields};

	for (size_t i = 0; i < count; i++)
		add_element(&groups, (const char *) elements + i * size);
	return groups;
}

static struct json *groups_write(const struct groups *groups)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->all[i];
		struct json *object = json_new_texts("role", role_of(groups, group->element), NULL);

		end_run(group);
		json_set_string(object, INDICES, text_of(&group->indices));
		fields_write(object, groups->fields + FIRST_FIELD, group->element);
		if (text_equals(json_get_string(object, STATE, NULL),
				replica_state_words[REPLICA_STARTING]))
			json_set_string(object, STATE, STARTED);
		json_append(list, object);
	}
	return list;
}

/* Texts that differ from the one before have room together; the others are replaced. */
struct text_room {
	size_t left;
	const char *last;
};

static const char *text_with_room(struct text_room *room, const char *text, const char *otherwise)
{
	size_t len = text && !text_equals(text, room->last) ? strlen(text) : 0;

	if (len > room->left || len > COMPACT_STATUS_TEXT)
		return otherwise;
	room->left -= len;
	room->last = text;
	return text;
}

static struct json *write_replicas(const struct status *status)
{
	size_t count = status->n_replicas;
	struct replica_status *kept CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*kept));
	struct text_room room = {.left = COMPACT_STATUS_TEXTS};

	for (size_t i = 0; i < count; i++) {
		kept[i] = without_what_shows(&status->replicas[i]);
		kept[i].message = text_with_room(&room, kept[i].message, NULL);
	}
	struct groups groups CLEANUP(groups_done) =
		group_elements(status_replica_fields, kept, count, sizeof(*kept));

	for (int step = 0; step < 2 && groups.count > DETAILED_GROUPS; step++) {
		/* What no decision needs, in the order in which it is omitted. */
		for (size_t i = 0; i < count; i++)
			if (step == 0)
				kept[i].start_time = kept[i].end_time = MSEC_UNSET;
			else
				kept[i].message = NULL;
		groups_done(&groups);
		groups = group_elements(status_replica_fields, kept, count, sizeof(*kept));
	}
	return groups_write(&groups);
}

static struct json *write_consequences(const struct failure *failure)
{
	struct consequence *kept CLEANUP(mem_free_any) =
		mem_new_array(failure->n_consequences, sizeof(*kept));
	struct text_room room = {.left = COMPACT_STATUS_TEXTS};

	for (size_t i = 0; i < failure->n_consequences; i++) {
		kept[i] = failure->consequences[i];
		kept[i].what = text_with_room(&room, kept[i].what, CUT);
	}
	struct groups groups CLEANUP(groups_done) = group_elements(
		status_consequence_fields, kept, failure->n_consequences, sizeof(*kept));

	return groups_write(&groups);
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

	if (status->failure && status->failure->n_consequences)
		json_set(json_get(object, FAILURE), CONSEQUENCES,
			 write_consequences(status->failure));
	json_set(object, REPLICAS, write_replicas(status));
	return object;
}

/* Reading. */

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

/* What a group stands for, in the order of a status. */
struct element {
	size_t role; /* the place of its role's first group */
	int index;
	struct json *object;
};

struct elements {
	struct element *all;
	size_t count, capacity;
	size_t bytes; /* of their JSON */
};

static void elements_done(struct elements *elements)
{
	for (size_t i = 0; i < elements->count; i++)
		json_free(elements->all[i].object);
	free(elements->all);
}

static int compare_elements(const void *left, const void *right)
{
	const struct element *a = left, *b = right;

	return a->role != b->role ? (a->role < b->role ? -1 : 1) : a->index - b->index;
}

/* A small text, of another writer, may stand for a large one many times. */
static int add_group(struct elements *elements, const struct json *group, size_t role,
		     struct err *err)
{
	const char *at = json_get_string(group, INDICES, "");
	struct text text CLEANUP(text_done) = {0};
	int first, last;

	json_add_compact(&text, group);
	size_t size = text.len - strlen(at);

	do {
		if (!read_range(&at, &first, &last))
			return err_set(err, ERR_INVALID, "expected ranges, as \"0-4,6\"");
		size_t count = (size_t) last - (size_t) first + 1;

		elements->bytes += size * count;
		if (elements->count + count > LIMIT_REPLICAS ||
		    elements->bytes > COMPACT_STATUS_UNFOLDED)
			return err_set(err, ERR_INVALID,
				       "expected at most %d elements, of %d MiB in all",
				       LIMIT_REPLICAS, COMPACT_STATUS_UNFOLDED / 1024 / 1024);
		for (int index = first; index <= last; index++) {
			struct json *object = json_new_shallow_copy(group);

			json_remove(object, INDICES);
			json_set_integer(object, "index", index);
			mem_grow(&elements->all, &elements->capacity, elements->count,
				 sizeof(*elements->all));
			elements->all[elements->count++] =
				(struct element){.role = role, .index = index, .object = object};
		}
	} while (*at);
	return 0;
}

/* Expands the groups in the list `key` of an object, if there are any. `path` is its name. */
static int unfold(struct json *object, const char *key, const char *path, struct err *err)
{
	struct elements elements CLEANUP(elements_done) = {0};
	const struct json *groups = json_get(object, key);
	size_t role = 0;

	if (!json_get(json_at(groups, 0), INDICES))
		return 0;
	for (size_t i = 0; i < json_count(groups); i++) {
		struct json *group = json_at(groups, i);

		if (!text_equals(json_get_string(group, "role", ""),
				 json_get_string(json_at(groups, role), "role", "")))
			role = i;
		if (text_equals(json_get_string(group, STATE, NULL), STARTED))
			json_set_string(group, STATE, replica_state_words[REPLICA_STARTING]);

		int rc = add_group(&elements, group, role, err);

		if (rc < 0)
			return err_prefix(err, "status.%s[%zu]." INDICES, path, i);
	}
	if (elements.count)
		qsort(elements.all, elements.count, sizeof(*elements.all), compare_elements);
	json_set(object, key, json_new_array());
	for (size_t i = 0; i < elements.count; i++)
		json_append(json_get(object, key), TAKE(elements.all[i].object));
	return 0;
}

int compact_status_unfold(struct json *status, struct err *err)
{
	int rc = unfold(status, REPLICAS, REPLICAS, err);

	return rc < 0 ? rc
		      : unfold(json_get(status, FAILURE), CONSEQUENCES, FAILURE "." CONSEQUENCES,
			       err);
}

int compact_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
			struct err *err)
{
	struct json *whole CLEANUP(json_cleanup) = json_new_copy(value);
	int rc = compact_status_unfold(whole, err);

	return rc < 0 ? rc : status_read(whole, arena, ret_status, err);
}
