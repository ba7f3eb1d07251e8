/* RFC 7396, section 2, word for word. json_read bounds the depth. */
#include "base/json_patch.h"

static void patch_members(struct json *object, const struct json *patch)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(patch, &key, &value)) {
		if (json_is(value, JSON_NULL))
			json_remove(object, key);
		else
			json_set(object, key, json_patched(json_get(object, key), value));
	}
}

struct json *json_patched(const struct json *target, const struct json *patch)
{
	if (!json_is(patch, JSON_OBJECT))
		return json_new_copy(patch);
	struct json *result =
		json_is(target, JSON_OBJECT) ? json_new_copy(target) : json_new_object();

	patch_members(result, patch);
	return result;
}

void json_patch_add_step(struct json *patch, const char *op, const char *path, struct json *value)
{
	struct json *step = json_new_object();

	json_set_string(step, "op", op);
	json_set_string(step, "path", path);
	if (value)
		json_set(step, "value", value);
	json_append(patch, step);
}
