#include "core/rendezvous_record.h"

#include "base/names.h"
#include "core/limits.h"
#include "core/member_fields.h"

#include <string.h>

static struct json *member_new(const struct world_member *member, bool is_there)
{
	struct json *entry = json_new_array();
	struct json *offer = NULL;

	json_append(entry, json_new_string(member->id));
	if (json_read(member->offer, strlen(member->offer), &offer, NULL) < 0)
		offer = json_new_object();
	json_append(entry, offer);
	json_append(entry, json_new_bool(is_there));
	return entry;
}

void rendezvous_past_set(struct json *object, const struct rendezvous_past *past)
{
	json_set_integer(object, "generation", past->world.generation);
	json_set_string(object, "worldReason", world_reason_words[past->world.reason]);
	json_set_bool(object, "goesOn", past->goes_on);
	json_set_bool(object, "isSpent", past->is_spent);
	json_set_integer(object, "restarts", past->n_restarts);
	json_set_string(object, "reason", world_reason_words[past->reason]);
	json_set_string(object, "verdict", rendezvous_verdict_words[past->verdict]);
	struct json *members = json_array_at(object, "members");

	for (size_t i = 0; i < past->world.n_members; i++)
		json_append(members, member_new(&past->world.members[i], past->are_there[i]));
}

static int read_member(const struct json *entry, struct arena *arena, struct world_member *member,
		       bool *ret_is_there, struct err *err)
{
	const char *id = json_as_string(json_at(entry, 0), "");
	const char *offer = NULL;

	if (!name_is_label_value(id) || !*id || !json_is(json_at(entry, 2), JSON_BOOL))
		return member_field_fault(err, "members", "of an id, an offer, true or false");
	int rc = member_field_offer(json_at(entry, 1), arena, &offer, err);

	member->id = (char *) arena_copy_text(arena, id);
	member->offer = (char *) offer;
	*ret_is_there = json_as_bool(json_at(entry, 2), false);
	return rc;
}

static int read_members(const struct json *list, struct arena *arena, struct rendezvous_past *past,
			struct err *err)
{
	size_t count = json_count(list);

	if (!json_is(list, JSON_ARRAY) || count > LIMIT_MEMBERS)
		return member_field_fault(err, "members", "a list, no longer than a job may be");
	past->world.members = arena_take_array(arena, count, sizeof(*past->world.members));
	past->are_there = arena_take_array(arena, count, sizeof(bool));
	for (; past->world.n_members < count; past->world.n_members++) {
		size_t rank = past->world.n_members;
		int rc = read_member(json_at(list, rank), arena, &past->world.members[rank],
				     &past->are_there[rank], err);

		if (rc < 0)
			return rc;
	}
	return 0;
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

int rendezvous_past_read(const struct json *object, struct arena *arena,
			 struct rendezvous_past *past, struct err *err)
{
	int verdict = 0;

	*past = (struct rendezvous_past){0};
	int rc = member_field_number(object, "generation", 0, LIMIT_RESTARTS,
				     &past->world.generation, err);

	if (rc == 0)
		rc = read_reason(object, "worldReason", &past->world.reason, err);
	if (rc == 0)
		rc = member_field_flag(object, "goesOn", &past->goes_on, err);
	if (rc == 0)
		rc = member_field_flag(object, "isSpent", &past->is_spent, err);
	if (rc == 0)
		rc = member_field_int(object, "restarts", 0, LIMIT_RESTARTS, &past->n_restarts,
				      err);
	if (rc == 0)
		rc = read_reason(object, "reason", &past->reason, err);
	if (rc == 0)
		rc = member_field_word(object, "verdict", rendezvous_verdict_words,
				       RENDEZVOUS_VERDICT_COUNT, &verdict, err);
	past->verdict = (enum rendezvous_verdict) verdict;
	return rc < 0 ? rc : read_members(json_get(object, "members"), arena, past, err);
}
