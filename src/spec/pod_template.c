#include "spec/pod_template.h"

#define CONTAINER_NAME "tensorflow"

struct json *pod_template_find(const struct json *list, const char *key, const char *text)
{
	for (size_t i = 0; i < json_count(list); i++) {
		struct json *element = json_at(list, i);

		if (text_equals(json_get_string(element, key, NULL), text))
			return element;
	}
	return NULL;
}

struct json *pod_template_container(const struct json *template)
{
	const struct json *containers = json_get_path(template, "spec", "containers", NULL);
	struct json *named = pod_template_find(containers, "name", CONTAINER_NAME);

	return named ? named : json_at(containers, 0);
}

struct json *pod_template_add(struct json *object, const char *list, const char *name)
{
	struct json *element = json_new_texts("name", name, NULL);

	json_append(json_array_at(object, list), element);
	return element;
}

void pod_template_add_mount(struct json *container, const char *volume, const char *path,
			    bool is_read_only)
{
	struct json *mount = pod_template_add(container, "volumeMounts", volume);

	json_set_string(mount, "mountPath", path);
	if (is_read_only)
		json_set_bool(mount, "readOnly", true);
}

void pod_template_add_secret(struct json *container, const char *variable, const char *secret,
			     const char *key)
{
	struct json *entry = pod_template_add(container, "env", variable);

	json_set(json_object_at(entry, "valueFrom"), "secretKeyRef",
		 json_new_texts("name", secret, "key", key, NULL));
}

/* Merging. */

/* The keys of list elements: patchMergeKey of Kubernetes' types. */
static const struct merge_key {
	const char *list;
	const char *key;
	bool is_merged; /* member by member; the others are a choice of one (an env's value or its
			   valueFrom), which is taken whole */
} merge_keys[] = {
	{"containers", "name", true},
	{"initContainers", "name", true},
	{"volumes", "name", false},
	{"env", "name", false},
	{"imagePullSecrets", "name", false},
	{"resourceClaims", "name", false},
	{"ports", "containerPort", false},
	{"volumeMounts", "mountPath", false},
	{"volumeDevices", "devicePath", false},
	{"hostAliases", "ip", false},
};

static struct json *merged(const struct json *under, const struct json *over, const char *name);

/* The last element with the same key, as the last one of an env is used; NULL if there is none. */
static struct json *find_same(const struct json *list, const char *key, const struct json *element)
{
	const struct json *wanted = json_get(element, key);
	struct json *found = NULL;

	for (size_t i = 0; wanted && i < json_count(list); i++)
		if (json_equals(json_get(json_at(list, i), key), wanted))
			found = json_at(list, i);
	return found;
}

static struct json *merged_lists(const struct json *under, const struct json *over,
				 const struct merge_key *merge_key)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < json_count(under); i++) {
		struct json *element = json_at(under, i);
		struct json *same = find_same(over, merge_key->key, element);

		if (same && merge_key->is_merged)
			json_append(list, merged(element, same, NULL));
		else
			json_append(list, json_new_copy(same ? same : element));
	}
	for (size_t i = 0; i < json_count(over); i++) {
		struct json *element = json_at(over, i);

		if (!find_same(under, merge_key->key, element))
			json_append(list, json_new_copy(element));
	}
	return list;
}

/* `name` is the member that both are the value of. */
static struct json *merged(const struct json *under, const struct json *over, const char *name)
{
	bool are_lists = json_is(under, JSON_ARRAY) && json_is(over, JSON_ARRAY);

	if (json_is(under, JSON_OBJECT) && json_is(over, JSON_OBJECT)) {
		struct json *object = json_new_copy(under), *value;

		for (const char *key = NULL; json_next(over, &key, &value);)
			if (json_is(value, JSON_NULL))
				json_remove(object, key);
			else
				json_set(object, key, merged(json_get(under, key), value, key));
		return object;
	}
	for (size_t i = 0; are_lists && i < ARRAY_LEN(merge_keys); i++)
		if (text_equals(merge_keys[i].list, name))
			return merged_lists(under, over, &merge_keys[i]);
	return json_new_copy(over);
}

struct json *pod_template_laid_over(const struct json *under, const struct json *over)
{
	struct json *base CLEANUP(json_cleanup) = json_new_copy(under);
	const struct json *container = pod_template_container(over);
	const char *name = json_get_string(container, "name", NULL);
	struct json *same = pod_template_container(base);

	if (json_is(same, JSON_OBJECT) && name)
		json_set_string(same, "name", name);
	if (json_is(same, JSON_OBJECT) && json_get(container, "command"))
		json_remove(same, "args");
	return merged(base, over, NULL);
}
