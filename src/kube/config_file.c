/* Finds clusters, users and contexts in a kubeconfig file. */
#include "kube/config_file.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Paths, as filepath.Clean and filepath.Join build them from absolute directories. */

static void leave_folder(struct text *path)
{
	while (path->len > 0 && path->bytes[path->len - 1] != '/')
		path->len--;
	if (path->len > 0)
		path->len--;
	if (path->bytes)
		path->bytes[path->len] = '\0';
}

static void add_parts(struct text *path, const char *parts)
{
	while (*parts) {
		size_t len = strcspn(parts, "/");

		if (len == 2 && memcmp(parts, "..", 2) == 0) {
			leave_folder(path);
		} else if (len > 0 && !(len == 1 && *parts == '.')) {
			text_add_char(path, '/');
			text_add_bytes(path, parts, len);
		}
		parts += len;
		parts += *parts == '/';
	}
}

const char *kube_config_path(struct arena *arena, const char *folder, const char *path)
{
	struct text joined CLEANUP(text_done) = {0};

	if (*path == '/')
		return arena_copy_text(arena, path);
	add_parts(&joined, folder);
	add_parts(&joined, path);
	return arena_copy_text(arena, joined.len > 0 ? text_of(&joined) : "/");
}

char *kube_config_folder(const char *file)
{
	struct text folder CLEANUP(text_done) = {0};
	char *here CLEANUP(mem_free_text) = getcwd(NULL, 0);

	if (*file != '/')
		add_parts(&folder, here ? here : "/");
	add_parts(&folder, file);
	leave_folder(&folder);
	return mem_copy_text(folder.len > 0 ? text_of(&folder) : "/");
}

static const struct {
	const char *list, *member;
} lists[] = {
	[KUBE_CONFIG_CLUSTERS] = {"clusters", "cluster"},
	[KUBE_CONFIG_USERS] = {"users", "user"},
	[KUBE_CONFIG_CONTEXTS] = {"contexts", "context"},
};

/* A text that the YAML or JSON reader quotes may be a secret: `token: *abc` is an anchor to it. */
static void hide_quoted(char *sentence)
{
	char *first = strchr(sentence, '\'');
	char *last = strrchr(sentence, '\'');

	if (first && last > first + 1) {
		memset(first + 1, '.', 1);
		memmove(first + 2, last, strlen(last) + 1);
	}
}

static void refuse_other_word(struct kube_config_file *file, const char *key, const char *word,
			      const char *sentence)
{
	struct field field = field_member(&file->root, key);
	const char *text = field_text(&file->reader, &field, "");

	if (*text && !text_equals(text, word))
		field_refuse(&file->reader, &field, "%s", sentence);
}

/* Adds a fault if the file is no kubeconfig. */
static void check_root(struct kube_config_file *file)
{
	struct field current = field_member(&file->root, "current-context");

	if (!json_is(file->root.value, JSON_OBJECT)) {
		field_refuse(&file->reader, &file->root,
			     "expected a kubeconfig: a map with clusters, users and contexts");
		return;
	}
	refuse_other_word(file, "kind", "Config", "expected Config; this is not a kubeconfig");
	refuse_other_word(file, "apiVersion", "v1",
			  "expected v1, the only version of a kubeconfig");
	field_text(&file->reader, &current, "");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct field list = field_member(&file->root, lists[i].list);

		field_count(&file->reader, &list);
	}
}

struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len)
{
	struct kube_config_file *file = mem_new(sizeof(*file));
	struct err err = {0};

	file->path = mem_copy_text(path);
	file->folder = mem_copy_text(folder);
	file->reader = (struct field_reader){.faults = &file->faults, .hides_values = true};
	if (documents_read(bytes, len, &file->documents, &file->n_documents, &err) < 0) {
		hide_quoted(err.text);
		fault_add(&file->faults, (struct place){0}, "", "%s", err.text);
	} else if (file->n_documents > 0) {
		file->reader.document = file->documents[0];
		file->root.value = document_root(file->documents[0]);
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

void kube_config_file_find(struct kube_config_file *file, enum kube_config_list list,
			   const char *name, struct kube_config_entry *ret_entry)
{
	struct kube_config_entry *entry = ret_entry;

	*entry = (struct kube_config_entry){.list = field_member(&file->root, lists[list].list)};
	for (size_t i = 0; i < json_count(entry->list.value); i++) {
		entry->item = field_element(&entry->list, i);
		if (!text_equals(json_as_string(json_get(entry->item.value, "name"), ""), name))
			continue;
		entry->file = file;
		entry->value = field_member(&entry->item, lists[list].member);
		if (field_is_set(&entry->value))
			field_is_object(&file->reader, &entry->value);
		return;
	}
}

const char *kube_config_text(const struct kube_config_entry *entry, struct arena *arena,
			     const char *key)
{
	struct field field = field_member(&entry->value, key);
	const char *text = field_text(&entry->file->reader, &field, "");

	return *text ? arena_copy_text(arena, text) : NULL;
}

bool kube_config_flag(const struct kube_config_entry *entry, const char *key)
{
	struct field field = field_member(&entry->value, key);

	return field_bool(&entry->file->reader, &field, false);
}

const char **kube_config_texts(const struct kube_config_entry *entry, struct arena *arena,
			       const struct field *list, size_t *ret_count)
{
	size_t count = field_count(&entry->file->reader, list);
	const char **texts = arena_take_array(arena, count + 1, sizeof(*texts));

	for (size_t i = 0; i < count; i++) {
		struct field item = field_element(list, i);

		texts[i] = arena_copy_text(arena, field_text(&entry->file->reader, &item, ""));
	}
	*ret_count = count;
	return texts;
}

void kube_config_refuse(const struct kube_config_entry *entry, const char *key, const char *format,
			...)
{
	char sentence[ERR_TEXT_SIZE];
	struct field member = field_member(&entry->value, key ? key : "");
	va_list values;

	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	field_refuse(&entry->file->reader, key ? &member : &entry->value, "%s", sentence);
}
