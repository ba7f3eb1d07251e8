#include "rendezvous/record.h"

#include "base/names.h"
#include "rendezvous/member_fields.h"
#include "spec/limits.h"

#include <string.h>

/* ["ID", OFFER, whether it is still a member, "KEY"] */
static struct json *member_new(const struct world_member *member, bool is_there)
{
	struct json *entry = json_new_array();
	struct json *offer = NULL;

	json_append(entry, json_new_string(member->id));
	if (json_read(member->offer, strlen(member->offer), &offer, NULL) < 0)
		offer = json_new_object();
	json_append(entry, offer);
	json_append(entry, json_new_bool(is_there));
	if (member->key)
		json_append(entry, json_new_string(member->key));
	return entry;
}

static void set_members(struct json *object, const struct rendezvous_snapshot *snapshot)
{
	struct json *members = json_array_at(object, "members");
	struct json *excluded = json_array_at(object, "setAside");

	for (size_t i = 0; i < snapshot->world.n_members; i++)
		json_append(members,
			    member_new(&snapshot->world.members[i], snapshot->are_there[i]));
	for (size_t i = 0; i < snapshot->n_excluded; i++)
		json_append(excluded, member_new(&snapshot->excluded[i], true));
}

static void set_budget(struct json *object, const struct restart_budget_snapshot *budget)
{
	json_set_string(object, "end", restart_budget_end_words[budget->end]);
	json_set_integer(object, "charged", budget->n_charged);
	json_set_integer(object, "fruitless", budget->n_no_progress);
	json_set_integer(object, "progress", budget->progress);
	json_set_integer(object, "failedAt", budget->failed_at);
	for (int i = 0; budget->ages && i < budget->n_charged; i++)
		json_append(json_array_at(object, "ages"), json_new_integer(budget->ages[i]));
}

void rendezvous_snapshot_set(struct json *object, const struct rendezvous_snapshot *snapshot)
{
	json_set_integer(object, "generation", snapshot->world.generation);
	json_set_string(object, "worldReason", world_reason_words[snapshot->world.reason]);
	json_set_bool(object, "goesOn", snapshot->goes_on);
	json_set_integer(object, "restarts", snapshot->n_restarts);
	json_set_string(object, "reason", world_reason_words[snapshot->reason]);
	json_set_string(object, "verdict", rendezvous_verdict_words[snapshot->verdict]);
	set_members(object, snapshot);
	set_budget(json_object_at(object, "budget"), &snapshot->budget);
}

static int read_member(const struct json *entry, struct arena *arena, struct world_member *member,
		       struct err *err)
{
	const char *id = json_as_string(json_at(entry, 0), "");
	const char *offer = NULL;

	if (!name_is_label_value(id) || !*id)
		return member_field_fault(err, "members", "of an id and an offer");
	int rc = member_field_offer(json_at(entry, 1), arena, &offer, err);

	member->key = (char *) arena_copy_text(arena, json_as_string(json_at(entry, 3), NULL));
	member->id = (char *) arena_copy_text(arena, id);
	member->offer = (char *) offer;
	return rc;
}

static int read_members(const struct json *object, const char *key, struct arena *arena,
			struct world_member **ret_members, size_t *ret_count, struct err *err)
{
	const struct json *list = json_get(object, key);
	size_t count = json_count(list);

	if (!json_is(list, JSON_ARRAY) || count > LIMIT_MEMBERS)
		return member_field_fault(err, key, "a list, no longer than a job may be");
	*ret_members = arena_take_array(arena, count, sizeof(**ret_members));
	for (*ret_count = 0; *ret_count < count; ++*ret_count) {
		int rc = read_member(json_at(list, *ret_count), arena, &(*ret_members)[*ret_count],
				     err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_presence(const struct json *list, struct arena *arena,
			 struct rendezvous_snapshot *snapshot, struct err *err)
{
	snapshot->are_there = arena_take_array(arena, snapshot->world.n_members, sizeof(bool));
	for (size_t i = 0; i < snapshot->world.n_members; i++) {
		const struct json *is_there = json_at(json_at(list, i), 2);

		if (!json_is(is_there, JSON_BOOL))
			return member_field_fault(err, "members", "with true or false");
		snapshot->are_there[i] = json_as_bool(is_there, false);
	}
	return 0;
}

static int read_ages(const struct json *list, struct arena *arena,
		     struct restart_budget_snapshot *budget, struct err *err)
{
	size_t count = json_count(list);

	if (!list)
		return 0;
	if (count != (size_t) budget->n_charged || count > LIMIT_TIMED_RESTARTS)
		return member_field_fault(err, "ages", "one for each restart");
	budget->ages = arena_take_array(arena, count, sizeof(msec));
	for (size_t i = 0; i < count; i++)
		budget->ages[i] = json_as_integer(json_at(list, i), 0);
	return 0;
}

static int read_budget(const struct json *object, struct arena *arena,
		       struct restart_budget_snapshot *budget, struct err *err)
{
	int end = 0;

	if (!object)
		return 0; /* from an earlier version */
	int rc = member_field_word(object, "end", restart_budget_end_words, RESTARTS_END_COUNT,
				   &end, err);

	budget->end = (enum restart_budget_end) end;
	if (rc == 0)
		rc = member_field_int(object, "charged", 0, LIMIT_RESTARTS, &budget->n_charged,
				      err);
	if (rc == 0)
		rc = member_field_int(object, "fruitless", 0, LIMIT_RESTARTS,
				      &budget->n_no_progress, err);
	if (rc == 0)
		rc = member_field_number(object, "progress", 0, LIMIT_STEP, &budget->progress, err);
	if (rc == 0)
		rc = member_field_number(object, "failedAt", 0, LIMIT_STEP, &budget->failed_at,
					 err);
	return rc < 0 ? rc : read_ages(json_get(object, "ages"), arena, budget, err);
}

static int read_reason(const struct json *object, const char *key, enum world_reason *ret_reason,
		       struct err *err)
{
	int index = 0;
	int rc =
		member_field_word(object, key, world_reason_words, WORLD_REASON_COUNT, &index, err);

	*ret_reason = (enum world_reason) index;
	return rc;
}

int rendezvous_snapshot_read(const struct json *object, struct arena *arena,
			     struct rendezvous_snapshot *snapshot, struct err *err)
{
	int verdict = 0;

	*snapshot = (struct rendezvous_snapshot){0};
	int rc = member_field_number(object, "generation", 0, LIMIT_RESTARTS,
				     &snapshot->world.generation, err);

	if (rc == 0)
		rc = read_reason(object, "worldReason", &snapshot->world.reason, err);
	if (rc == 0)
		rc = member_field_flag(object, "goesOn", &snapshot->goes_on, err);
	if (rc == 0)
		rc = member_field_int(object, "restarts", 0, LIMIT_RESTARTS, &snapshot->n_restarts,
				      err);
	if (rc == 0)
		rc = read_reason(object, "reason", &snapshot->reason, err);
	if (rc == 0)
		rc = member_field_word(object, "verdict", rendezvous_verdict_words,
				       RENDEZVOUS_VERDICT_COUNT, &verdict, err);
	snapshot->verdict = (enum rendezvous_verdict) verdict;
	if (rc == 0)
		rc = read_members(object, "members", arena, &snapshot->world.members,
				  &snapshot->world.n_members, err);
	if (rc == 0)
		rc = read_presence(json_get(object, "members"), arena, snapshot, err);
	if (rc == 0 && json_get(object, "setAside"))
		rc = read_members(object, "setAside", arena, &snapshot->excluded,
				  &snapshot->n_excluded, err);
	if (rc == 0)
		rc = read_budget(json_get(object, "budget"), arena, &snapshot->budget, err);
	return rc;
}
