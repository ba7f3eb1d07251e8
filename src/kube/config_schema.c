/* What may stand in a kubeconfig is a table; checking is a walk along it. */
#include "kube/config_schema.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum value_kind {
	VALUE_TEXT,
	VALUE_FLAG,
	VALUE_BASE64,
	VALUE_OBJECT, /* its members are in `members` */
	VALUE_LIST, /* of objects with `members` */
	VALUE_NAMED_LIST, /* the same, and each has a name of its own */
	VALUE_TEXTS,
	VALUE_LISTS_OF_TEXTS, /* an object whose every member is a list of texts */
};

static const char *const expectations[] = {
	[VALUE_TEXT] = "expected a text; put quotes around it",
	[VALUE_FLAG] = "expected true or false",
	[VALUE_BASE64] = "expected a text in base64",
	[VALUE_OBJECT] = "expected a map of fields",
	[VALUE_LIST] = "expected a list",
	[VALUE_NAMED_LIST] = "expected a list of things with a name each",
	[VALUE_TEXTS] = "expected a list of texts",
	[VALUE_LISTS_OF_TEXTS] = "expected a map of lists of texts",
};

struct field_row {
	const char *name; /* NULL ends a table */
	enum value_kind kind;
	const struct field_row *members;
};

static const struct field_row extension_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{0},
};

static const struct field_row cluster_fields[] = {
	{"server", VALUE_TEXT, NULL},
	{"tls-server-name", VALUE_TEXT, NULL},
	{"insecure-skip-tls-verify", VALUE_FLAG, NULL},
	{"certificate-authority", VALUE_TEXT, NULL},
	{"certificate-authority-data", VALUE_BASE64, NULL},
	{"proxy-url", VALUE_TEXT, NULL},
	{"disable-compression", VALUE_FLAG, NULL},
	{"extensions", VALUE_LIST, extension_fields},
	{0},
};

static const struct field_row variable_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{"value", VALUE_TEXT, NULL},
	{0},
};

static const struct field_row exec_fields[] = {
	{"command", VALUE_TEXT, NULL},         {"args", VALUE_TEXTS, NULL},
	{"env", VALUE_LIST, variable_fields},  {"apiVersion", VALUE_TEXT, NULL},
	{"installHint", VALUE_TEXT, NULL},     {"provideClusterInfo", VALUE_FLAG, NULL},
	{"interactiveMode", VALUE_TEXT, NULL}, {0},
};

static const struct field_row provider_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{0},
};

static const struct field_row user_fields[] = {
	{"client-certificate", VALUE_TEXT, NULL},
	{"client-certificate-data", VALUE_BASE64, NULL},
	{"client-key", VALUE_TEXT, NULL},
	{"client-key-data", VALUE_BASE64, NULL},
	{"token", VALUE_TEXT, NULL},
	{"tokenFile", VALUE_TEXT, NULL},
	{"as", VALUE_TEXT, NULL},
	{"as-uid", VALUE_TEXT, NULL},
	{"as-groups", VALUE_TEXTS, NULL},
	{"as-user-extra", VALUE_LISTS_OF_TEXTS, NULL},
	{"username", VALUE_TEXT, NULL},
	{"password", VALUE_TEXT, NULL},
	{"auth-provider", VALUE_OBJECT, provider_fields},
	{"exec", VALUE_OBJECT, exec_fields},
	{0},
};

static const struct field_row context_fields[] = {
	{"cluster", VALUE_TEXT, NULL},
	{"user", VALUE_TEXT, NULL},
	{"namespace", VALUE_TEXT, NULL},
	{0},
};

static const struct field_row named_cluster_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{"cluster", VALUE_OBJECT, cluster_fields},
	{0},
};

static const struct field_row named_user_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{"user", VALUE_OBJECT, user_fields},
	{0},
};

static const struct field_row named_context_fields[] = {
	{"name", VALUE_TEXT, NULL},
	{"context", VALUE_OBJECT, context_fields},
	{0},
};

static const struct field_row root_fields[] = {
	{"apiVersion", VALUE_TEXT, NULL},
	{"kind", VALUE_TEXT, NULL},
	{"current-context", VALUE_TEXT, NULL},
	{"clusters", VALUE_NAMED_LIST, named_cluster_fields},
	{"users", VALUE_NAMED_LIST, named_user_fields},
	{"contexts", VALUE_NAMED_LIST, named_context_fields},
	{0},
};

/* One walk on its way. */
struct check {
	const struct document *document;
	struct faults *faults;
};

void kube_config_refuse(const struct document *document, struct faults *faults, const char *path,
			const char *sentence)
{
	struct place place = {0};

	if (!faults_are_full(faults))
		place = document_place(document, path);
	fault_add(faults, place, path, "%s", sentence);
}

static void refuse(struct check *check, const char *path, const char *sentence)
{
	kube_config_refuse(check->document, check->faults, path, sentence);
}

static void check_base64(struct check *check, const char *path, const char *text)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	struct err err = {0};

	if (base64_read(text, strlen(text), &bytes, &len, &err) < 0)
		refuse(check, path, err.text);
	if (bytes)
		explicit_bzero(bytes, len);
}

static void check_texts(struct check *check, const char *path, const struct json *list)
{
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		char *item_path CLEANUP(mem_free_text) = mem_format("%s[%zu]", path, i);

		if (!json_is(item, JSON_STRING) && !json_is(item, JSON_NULL))
			refuse(check, item_path, expectations[VALUE_TEXT]);
	}
}

static char *path_of_key(const char *path, const char *key)
{
	if (strpbrk(key, ".[]\""))
		return mem_format("%s[\"%s\"]", path, key);
	return mem_format("%s%s%s", path, *path ? "." : "", key);
}

static void check_lists_of_texts(struct check *check, const char *path, const struct json *map)
{
	const char *key = NULL;
	struct json *list;

	while (json_next(map, &key, &list)) {
		char *list_path CLEANUP(mem_free_text) = path_of_key(path, key);

		if (json_is(list, JSON_ARRAY))
			check_texts(check, list_path, list);
		else if (!json_is(list, JSON_NULL))
			refuse(check, list_path, expectations[VALUE_TEXTS]);
	}
}

static bool has_type(enum value_kind kind, const struct json *value)
{
	switch (kind) {
	case VALUE_TEXT:
	case VALUE_BASE64:
		return json_is(value, JSON_STRING);
	case VALUE_FLAG:
		return json_is(value, JSON_BOOL);
	case VALUE_OBJECT:
	case VALUE_LISTS_OF_TEXTS:
		return json_is(value, JSON_OBJECT);
	case VALUE_LIST:
	case VALUE_NAMED_LIST:
	case VALUE_TEXTS:
		return json_is(value, JSON_ARRAY);
	}
	return false;
}

static void check_members(struct check *check, const char *path, const struct json *object,
			  const struct field_row *rows);

static void check_items(struct check *check, const char *path, const struct json *list,
			const struct field_row *rows)
{
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		char *item_path CLEANUP(mem_free_text) = mem_format("%s[%zu]", path, i);

		if (json_is(item, JSON_OBJECT))
			check_members(check, item_path, item, rows);
		else if (!json_is(item, JSON_NULL))
			refuse(check, item_path, expectations[VALUE_OBJECT]);
	}
}

static const char *name_at(const struct json *list, size_t index)
{
	return json_as_string(json_get(json_at(list, index), "name"), "");
}

struct name_at {
	const char *name;
	size_t index;
};

static int compare_names(const void *a, const void *b)
{
	const struct name_at *first = a, *second = b;
	int order = strcmp(first->name, second->name);

	if (order != 0)
		return order;
	return first->index < second->index ? -1 : first->index > second->index;
}

/* By sorting: a file of the largest size has a hundred thousand names. */
static void check_names(struct check *check, const char *path, const struct json *list)
{
	size_t count = json_count(list);
	struct name_at *names CLEANUP(mem_free_any) = mem_new_array(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = (struct name_at){name_at(list, i), i};
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 1; i < count; i++) {
		char *item_path CLEANUP(mem_free_text) = NULL;

		if (!text_equals(names[i - 1].name, names[i].name))
			continue;
		item_path = mem_format("%s[%zu].name", path, names[i].index);
		refuse(check, item_path, "another one in this file has the same name");
	}
}

static void check_value(struct check *check, const char *path, const struct json *value,
			const struct field_row *row)
{
	if (!has_type(row->kind, value)) {
		refuse(check, path, expectations[row->kind]);
		return;
	}
	switch (row->kind) {
	case VALUE_TEXT:
	case VALUE_FLAG:
		return;
	case VALUE_BASE64:
		check_base64(check, path, json_as_string(value, ""));
		return;
	case VALUE_OBJECT:
		check_members(check, path, value, row->members);
		return;
	case VALUE_NAMED_LIST:
		check_names(check, path, value);
		check_items(check, path, value, row->members);
		return;
	case VALUE_LIST:
		check_items(check, path, value, row->members);
		return;
	case VALUE_TEXTS:
		check_texts(check, path, value);
		return;
	case VALUE_LISTS_OF_TEXTS:
		check_lists_of_texts(check, path, value);
		return;
	}
}

/* Depth is bounded by the tables. */
static void check_members(struct check *check, const char *path, const struct json *object,
			  const struct field_row *rows)
{
	for (; rows->name; rows++) {
		const struct json *value = json_get(object, rows->name);
		char *member CLEANUP(mem_free_text) = path_of_key(path, rows->name);

		if (!json_is(value, JSON_NULL))
			check_value(check, member, value, rows);
	}
}

static void check_kind(struct check *check, const struct json *root)
{
	const char *kind = json_as_string(json_get(root, "kind"), "");
	const char *version = json_as_string(json_get(root, "apiVersion"), "");

	if (*kind && !text_equals(kind, "Config"))
		refuse(check, "kind", "expected Config: this is no kubeconfig");
	if (*version && !text_equals(version, "v1"))
		refuse(check, "apiVersion", "expected v1, the only version of a kubeconfig");
}

void kube_config_check(const struct document *document, struct faults *faults)
{
	struct check check = {.document = document, .faults = faults};
	const struct json *root = document_root(document);

	if (!json_is(root, JSON_OBJECT)) {
		refuse(&check, "",
		       "expected a kubeconfig: a map with clusters, users and contexts");
		return;
	}
	check_members(&check, "", root, root_fields);
	check_kind(&check, root);
	faults_sort(faults, 0);
}
