#include "spec/pod_place.h"

#include "base/mem.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.[]"

static void add_at(const struct pod_file *file, const char *template, const char *path,
		   struct text *places)
{
	char *whole CLEANUP(mem_free_text) = mem_format("%s%s", template, path);
	struct place place;

	if (document_find(file->document, whole, &place))
		text_addf(places, "%s%s:%d:%d", places->len > 0 ? ", " : "", file->name, place.line,
			  place.column);
}

/* Adds the place in each role, since all may have the same error. */
static void add_in_job(const struct pod_file *file, const struct json *spec, const char *path,
		       struct text *places)
{
	const struct json *list = json_get(spec, "replicaSpecs");
	const char *role = NULL;
	struct json *value;

	while (json_next(json_get(spec, "tfReplicaSpecs"), &role, &value)) {
		char *template CLEANUP(mem_free_text) =
			mem_format("spec.tfReplicaSpecs[\"%s\"].template.", role);

		add_at(file, template, path, places);
	}
	for (size_t i = 0; i < json_count(list); i++) {
		char *template CLEANUP(mem_free_text) =
			mem_format("spec.replicaSpecs[%zu].template.", i);

		add_at(file, template, path, places);
	}
}

static void add_in_file(const struct pod_file *file, const char *path, struct text *places)
{
	const struct json *root = document_root(file->document);
	const struct json *spec = json_get(root, "spec");

	if (json_get(spec, "tfReplicaSpecs") || json_get(spec, "replicaSpecs"))
		add_in_job(file, spec, path, places);
	else if (json_get(spec, "template"))
		add_at(file, "spec.template.", path, places);
	else
		add_at(file, json_get(root, "template") ? "template." : "", path, places);
}

/* The length of the path of a Pod's field that starts here; 0: none does. */
static size_t path_here(const char *sentence, const char *at)
{
	size_t len = strspn(at, LETTERS);

	if (at > sentence && strchr(LETTERS, at[-1]))
		return 0;
	if (!text_starts_with(at, "spec.") && !text_starts_with(at, "metadata."))
		return 0;
	while (len > 0 && at[len - 1] == '.')
		len--;
	return memchr(at, '.', len) ? len : 0;
}

/* Adds the whole path, with the quote of a quoted one. Returns the text after it. */
static const char *add_path(const struct pod_file *files, size_t n_files, const char *at,
			    size_t len, struct text *text)
{
	char *path CLEANUP(mem_free_text) = mem_format("%.*s", (int) len, at);
	struct text places CLEANUP(text_done) = {0};

	for (size_t i = 0; i < n_files; i++)
		add_in_file(&files[i], path, &places);
	len += at[len] == '"';
	text_addf(text, "%.*s", (int) len, at);
	if (places.len > 0)
		text_addf(text, " (%s)", text_of(&places));
	return at + len;
}

void pod_place_add(const struct pod_file *files, size_t n_files, const char *sentence,
		   struct text *text)
{
	const char *at = sentence;

	while (*at) {
		size_t len = path_here(sentence, at);

		if (len > 0)
			at = add_path(files, n_files, at, len, text);
		else
			text_add_char(text, *at++);
	}
}
