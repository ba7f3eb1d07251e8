#include "rendezvous/member_fields.h"

#include "base/names.h"
#include "base/text.h"
#include "rendezvous/world_cluster.h"

#include <inttypes.h>

int member_field_fault(struct err *err, const char *key, const char *wanted)
{
	return err_set(err, ERR_INVALID, "%s: must be %s", key, wanted);
}

int member_field_number(const struct json *object, const char *key, int64_t low, int64_t high,
			int64_t *ret_number, struct err *err)
{
	const struct json *value = json_get(object, key);
	int64_t number = json_as_integer(value, low - 1);

	if (!json_is(value, JSON_INTEGER) || number < low || number > high)
		return err_set(err, ERR_INVALID,
			       "%s: must be a number from %" PRId64 " to %" PRId64, key, low, high);
	*ret_number = number;
	return 0;
}

int member_field_newer(const struct json *object, const char *key, int64_t high,
		       int64_t *ret_number, struct err *err)
{
	*ret_number = 0;
	return json_get(object, key) ? member_field_number(object, key, 0, high, ret_number, err)
				     : 0;
}

int member_field_int(const struct json *object, const char *key, int low, int high, int *ret_number,
		     struct err *err)
{
	int64_t number = 0;
	int rc = member_field_number(object, key, low, high, &number, err);

	if (rc == 0)
		*ret_number = (int) number;
	return rc;
}

int member_field_flag(const struct json *object, const char *key, bool *ret_flag, struct err *err)
{
	const struct json *value = json_get(object, key);

	if (!json_is(value, JSON_BOOL))
		return member_field_fault(err, key, "true or false");
	*ret_flag = json_as_bool(value, false);
	return 0;
}

int member_field_word(const struct json *object, const char *key, const char *const *words,
		      size_t count, int *ret_index, struct err *err)
{
	int index = name_find_word(words, count, json_as_string(json_get(object, key), ""));

	if (index < 0)
		return member_field_fault(err, key, "one of the words of this version of muster");
	*ret_index = index;
	return 0;
}

int member_field_uid(const struct json *object, struct arena *arena, const char **ret_uid,
		     struct err *err)
{
	const char *uid = json_as_string(json_get(object, "uid"), NULL);

	if (!uid || (*uid && !name_is_uid(uid)))
		return member_field_fault(err, "uid", "a UUID, or empty");
	*ret_uid = arena_copy_text(arena, uid);
	return 0;
}

int member_field_key(const struct json *object, struct arena *arena, const char **ret_key,
		     struct err *err)
{
	const struct json *value = json_get(object, "key");
	const char *key = json_as_string(value, NULL);

	if (value && (!key || !name_is_uid(key)))
		return member_field_fault(err, "key", "a UUID");
	*ret_key = arena_copy_text(arena, key);
	return 0;
}

int member_field_offer(const struct json *offer, struct arena *arena, const char **ret_offer,
		       struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	struct offer read = {0};

	if (!json_is(offer, JSON_OBJECT))
		return member_field_fault(err, "offer", "an object");
	int rc = offer_read_json(offer, arena, &read, err);

	if (rc < 0)
		return err_prefix(err, "offer");
	offer_add(&read, &text);
	*ret_offer = arena_copy_text(arena, text_of(&text));
	return 0;
}
