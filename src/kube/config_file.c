/* What may stand in a kubeconfig is a table; reading is a walk along it. */
#include "kube/config_file.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
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

static const struct {
	const char *list, *member;
} lists[] = {
	[KUBE_CONFIG_CLUSTERS] = {"clusters", "cluster"},
	[KUBE_CONFIG_USERS] = {"users", "user"},
	[KUBE_CONFIG_CONTEXTS] = {"contexts", "context"},
};

static void refuse(struct kube_config_file *file, const char *path, const char *sentence)
{
	struct place place = {0};

	if (!faults_are_full(&file->faults))
		place = document_place(file->documents[0], path);
	fault_add(&file->faults, place, path, "%s", sentence);
}

static void check_base64(struct kube_config_file *file, const char *path, const char *text)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	struct err err = {0};

	if (base64_read(text, strlen(text), &bytes, &len, &err) < 0)
		refuse(file, path, err.text);
	if (bytes)
		explicit_bzero(bytes, len);
}

static void check_texts(struct kube_config_file *file, const char *path, const struct json *list)
{
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		char *item_path CLEANUP(mem_free_text) = mem_format("%s[%zu]", path, i);

		if (!json_is(item, JSON_STRING) && !json_is(item, JSON_NULL))
			refuse(file, item_path, expectations[VALUE_TEXT]);
	}
}

static char *path_of_key(const char *path, const char *key)
{
	if (strpbrk(key, ".[]\""))
		return mem_format("%s[\"%s\"]", path, key);
	return mem_format("%s%s%s", path, *path ? "." : "", key);
}

static void check_lists_of_texts(struct kube_config_file *file, const char *path,
				 const struct json *map)
{
	const char *key = NULL;
	struct json *list;

	while (json_next(map, &key, &list)) {
		char *list_path CLEANUP(mem_free_text) = path_of_key(path, key);

		if (json_is(list, JSON_ARRAY))
			check_texts(file, list_path, list);
		else if (!json_is(list, JSON_NULL))
			refuse(file, list_path, expectations[VALUE_TEXTS]);
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

static void check_members(struct kube_config_file *file, const char *path,
			  const struct json *object, const struct field_row *rows);

static void check_items(struct kube_config_file *file, const char *path, const struct json *list,
			const struct field_row *rows)
{
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *item = json_at(list, i);
		char *item_path CLEANUP(mem_free_text) = mem_format("%s[%zu]", path, i);

		if (json_is(item, JSON_OBJECT))
			check_members(file, item_path, item, rows);
		else if (!json_is(item, JSON_NULL))
			refuse(file, item_path, expectations[VALUE_OBJECT]);
	}
}

static const char *name_at(const struct json *list, size_t index)
{
	return json_as_string(json_get(json_at(list, index), "name"), "");
}

static size_t index_of_name(const struct json *list, const char *name)
{
	size_t index = 0;

	while (index < json_count(list) && !text_equals(name_at(list, index), name))
		index++;
	return index;
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
static void check_names(struct kube_config_file *file, const char *path, const struct json *list)
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
		refuse(file, item_path, "another one in this file has the same name");
	}
}

static void check_value(struct kube_config_file *file, const char *path, const struct json *value,
			const struct field_row *row)
{
	if (!has_type(row->kind, value)) {
		refuse(file, path, expectations[row->kind]);
		return;
	}
	switch (row->kind) {
	case VALUE_TEXT:
	case VALUE_FLAG:
		return;
	case VALUE_BASE64:
		check_base64(file, path, json_as_string(value, ""));
		return;
	case VALUE_OBJECT:
		check_members(file, path, value, row->members);
		return;
	case VALUE_NAMED_LIST:
		check_names(file, path, value);
		check_items(file, path, value, row->members);
		return;
	case VALUE_LIST:
		check_items(file, path, value, row->members);
		return;
	case VALUE_TEXTS:
		check_texts(file, path, value);
		return;
	case VALUE_LISTS_OF_TEXTS:
		check_lists_of_texts(file, path, value);
		return;
	}
}

/* Depth is bounded by the tables. */
static void check_members(struct kube_config_file *file, const char *path,
			  const struct json *object, const struct field_row *rows)
{
	for (; rows->name; rows++) {
		const struct json *value = json_get(object, rows->name);
		char *member CLEANUP(mem_free_text) = path_of_key(path, rows->name);

		if (!json_is(value, JSON_NULL))
			check_value(file, member, value, rows);
	}
}

static void check_kind(struct kube_config_file *file)
{
	const char *kind = kube_config_file_text(file, "kind");
	const char *version = kube_config_file_text(file, "apiVersion");

	if (kind && !text_equals(kind, "Config"))
		refuse(file, "kind", "expected Config: this is no kubeconfig");
	if (version && !text_equals(version, "v1"))
		refuse(file, "apiVersion", "expected v1, the only version of a kubeconfig");
}

static void check_root(struct kube_config_file *file)
{
	if (!json_is(file->root, JSON_OBJECT)) {
		refuse(file, "", "expected a kubeconfig: a map with clusters, users and contexts");
		return;
	}
	check_members(file, "", file->root, root_fields);
	check_kind(file);
	faults_sort(&file->faults, 0);
}

/* What a reader of YAML or JSON quotes may be a secret: `token: *abc` is an anchor to it. */
static void hide_quoted(char *sentence)
{
	char *first = strchr(sentence, '\'');
	char *last = strrchr(sentence, '\'');

	if (first && last > first + 1) {
		memset(first + 1, '.', 1);
		memmove(first + 2, last, strlen(last) + 1);
	}
}

struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len)
{
	struct kube_config_file *file = mem_new(sizeof(*file));
	struct err err = {0};

	file->path = mem_copy_text(path);
	file->folder = mem_copy_text(folder);
	if (documents_read(bytes, len, &file->documents, &file->n_documents, &err) < 0) {
		hide_quoted(err.text);
		fault_add(&file->faults, (struct place){0}, "", "%s", err.text);
	} else if (file->n_documents > 0) {
		file->root = document_root(file->documents[0]);
		check_root(file);
	}
	return file;
}

void kube_config_file_free(struct kube_config_file *file)
{
	if (!file)
		return;
	faults_done(&file->faults);
	documents_free_secret(file->documents, file->n_documents);
	free(file->folder);
	free(file->path);
	free(file);
}

const char *kube_config_file_text(const struct kube_config_file *file, const char *key)
{
	const char *text = json_as_string(json_get(file->root, key), "");

	return *text ? text : NULL;
}

struct kube_config_entry kube_config_file_find(struct kube_config_file *file,
					       enum kube_config_list list, const char *name)
{
	const struct json *items = json_get(file->root, lists[list].list);
	size_t index = index_of_name(items, name);

	if (index == json_count(items))
		return (struct kube_config_entry){0};
	const struct json *value = json_get(json_at(items, index), lists[list].member);

	return (struct kube_config_entry){file, list, index, value};
}

void kube_config_entry_refuse(const struct kube_config_entry *entry, const char *field,
			      const char *format, ...)
{
	char sentence[ERR_TEXT_SIZE];
	va_list values;
	char *path CLEANUP(mem_free_text) =
		mem_format("%s[%zu].%s%s%s", lists[entry->list].list, entry->index,
			   lists[entry->list].member, field ? "." : "", field ? field : "");

	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	refuse(entry->file, path, sentence);
}
