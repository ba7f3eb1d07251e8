/* Files of clusters, users and contexts, and how those are found in them. */
#include "kube/config_file.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/config_schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *list, *member;
} lists[] = {
	[KUBE_CONFIG_CLUSTERS] = {"clusters", "cluster"},
	[KUBE_CONFIG_USERS] = {"users", "user"},
	[KUBE_CONFIG_CONTEXTS] = {"contexts", "context"},
};

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
		kube_config_check(file->documents[0], &file->faults);
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
	kube_config_refuse(entry->file->documents[0], &entry->file->faults, path, sentence);
}
