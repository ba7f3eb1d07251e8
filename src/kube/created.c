#include "kube/created.h"

#include "base/text.h"

#include <stddef.h>

static bool has_members(const struct json *sent, const struct json *found)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(sent, &key, &value))
		if (!json_equals(value, json_get(found, key)))
			return false;
	return true;
}

static bool has_owner(const struct json *owners, const char *uid)
{
	for (size_t i = 0; i < json_count(owners); i++)
		if (text_equals(json_as_string(json_get(json_at(owners, i), "uid"), NULL), uid))
			return true;
	return false;
}

static bool has_owners(const struct json *sent, const struct json *found)
{
	for (size_t i = 0; i < json_count(sent); i++)
		if (!has_owner(found, json_as_string(json_get(json_at(sent, i), "uid"), NULL)))
			return false;
	return true;
}

static bool is_so(const struct json *patch, const struct json *found)
{
	const char *key = NULL;
	struct json *value;

	if (!json_is(patch, JSON_OBJECT))
		return json_equals(patch, found);
	while (json_next(patch, &key, &value)) {
		const struct json *its = json_get(found, key);

		if (json_is(value, JSON_NULL) ? its != NULL : !is_so(value, its))
			return false;
	}
	return true;
}

bool kube_was_patched(const struct json *patch, const struct json *found)
{
	struct json *wanted CLEANUP(json_cleanup) = json_new_copy(patch);

	if (json_get_path(wanted, "metadata", "resourceVersion", NULL))
		json_remove(json_get(wanted, "metadata"), "resourceVersion");
	return is_so(wanted, found);
}

bool kube_was_created(const struct json *sent, const struct json *found)
{
	const struct json *mine = json_get(sent, "metadata");
	const struct json *its = json_get(found, "metadata");

	if (!json_count(json_get(mine, "labels")) && !json_count(json_get(mine, "annotations")) &&
	    !json_count(json_get(mine, "ownerReferences")))
		return false;
	return has_members(json_get(mine, "labels"), json_get(its, "labels")) &&
	       has_members(json_get(mine, "annotations"), json_get(its, "annotations")) &&
	       has_owners(json_get(mine, "ownerReferences"), json_get(its, "ownerReferences"));
}
