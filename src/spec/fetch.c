#include "spec/fetch.h"

#include "base/names.h"
#include "spec/limits.h"

#define CONTENTS "/."
#define LONGEST_PATH 4096 /* PATH_MAX of Linux */

/* "worker-0", up to the colon. The role becomes part of a directory name. */
static bool read_replica(const char *text, size_t len, struct arena *arena, struct fetch *fetch)
{
	char *name CLEANUP(mem_free_text) = mem_copy_bytes(text, len);
	char *dash = strrchr(name, '-');
	int64_t index;

	if (!dash || dash == name || text_read_int(dash + 1, 0, LIMIT_REPLICAS, &index, NULL) < 0)
		return false;
	*dash = '\0';
	if (!name_is_dns_label(name))
		return false;
	fetch->role = arena_copy_text(arena, name);
	fetch->index = (int) index;
	return true;
}

static bool leads_up(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += strspn(part, "/");
		if (strcspn(part, "/") == 2 && text_starts_with(part, ".."))
			return true;
	}
	return false;
}

static const char *read_path(const char *text, struct arena *arena)
{
	size_t len = strlen(text);
	const char *path;

	while (len > 1 && text[len - 1] == '/')
		len--;
	path = arena_format(arena, "%.*s", (int) len, text);
	if (*path != '/' || len > LONGEST_PATH || text_equals(path, "/") ||
	    text_equals(path, CONTENTS) || leads_up(path))
		return NULL;
	return path;
}

int fetch_read(const char *text, struct arena *arena, struct fetch *ret_fetch, struct err *err)
{
	const char *colon = strchr(text, ':');
	struct fetch fetch = {0};

	if (!colon || !read_replica(text, (size_t) (colon - text), arena, &fetch))
		return err_set(err, ERR_INVALID,
			       "'%s' is not a directory of a replica (expected ROLE-INDEX:/PATH, "
			       "for example worker-0:/models)",
			       text);
	fetch.path = read_path(colon + 1, arena);
	if (!fetch.path)
		return err_set(err, ERR_INVALID,
			       "'%s': the path must begin with '/', must not contain '..', and "
			       "must not be '/'",
			       text);
	*ret_fetch = fetch;
	return 0;
}

char *fetch_text(const struct fetch *fetch)
{
	return mem_format("%s-%d:%s", fetch->role, fetch->index, fetch->path);
}

char *fetch_folder(const struct fetch *fetch)
{
	size_t len = strlen(fetch->path);

	return mem_copy_bytes(fetch->path,
			      text_ends_with(fetch->path, CONTENTS) ? len - strlen(CONTENTS) : len);
}

int fetch_read_all(const char *annotation, struct arena *arena, const struct fetch **ret_list,
		   size_t *ret_count, struct err *err)
{
	struct json *texts CLEANUP(json_cleanup) = NULL;
	struct fetch *list;
	int rc = 0;

	*ret_count = 0;
	if (!annotation)
		return 0;
	if (json_read(annotation, strlen(annotation), &texts, NULL) < 0 ||
	    !json_is(texts, JSON_ARRAY))
		return err_set(err, ERR_INVALID, "not a JSON list of texts ROLE-INDEX:/PATH");
	size_t count = json_count(texts);

	list = arena_take_array(arena, count, sizeof(*list));
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = fetch_read(json_as_string(json_at(texts, i), ""), arena, &list[i], err);
	if (rc < 0)
		return rc;
	*ret_list = list;
	*ret_count = count;
	return 0;
}

void fetch_add(struct json *document, const struct fetch *fetch)
{
	struct json *annotations =
		json_object_at(json_object_at(document, "metadata"), "annotations");
	const char *before = json_get_string(annotations, JOB_ANNOTATION_FETCH, "[]");
	struct json *list CLEANUP(json_cleanup) = NULL;
	char *added CLEANUP(mem_free_text) = fetch_text(fetch);
	struct text text CLEANUP(text_done) = {0};

	if (json_read(before, strlen(before), &list, NULL) < 0)
		list = json_new_array();
	json_append(list, json_new_string(added));
	json_add_compact(&text, list);
	json_set_string(annotations, JOB_ANNOTATION_FETCH, text_of(&text));
}
