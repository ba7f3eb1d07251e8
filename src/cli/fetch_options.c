#include "cli/fetch_options.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/folder.h"
#include "spec/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fetch_places_done(struct fetch_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->list[i]);
	free(places->list);
	*places = (struct fetch_places){0};
}

static bool lies_in_folder(const char *path)
{
	char *parent CLEANUP(mem_free_text) = mem_copy_text(path);
	size_t len = strlen(parent);

	while (len && parent[len - 1] == '/')
		len--;
	while (len && parent[len - 1] != '/')
		len--;
	parent[len] = '\0';
	return folder_exists(parent);
}

/* The job may finish long after this command, on another machine. Errors are reported now. */
static int parse_fetch_place(const char *text, char **ret_place, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = realpath(".", NULL);

	if (!*text)
		return err_set(err, ERR_INVALID, "missing path after the last ':'");
	if (*text != '/' && !folder)
		return err_set_errno(err, errno, "cannot determine the working directory");
	char *place CLEANUP(mem_free_text) =
		*text == '/' ? mem_copy_text(text) : mem_format("%s/%s", folder, text);

	if (!folder_exists(place) && !lies_in_folder(place))
		return err_set(err, ERR_NOT_FOUND, "the parent directory of '%s' does not exist",
			       text);
	*ret_place = TAKE(place);
	return 0;
}

/* The colon after the path in the Pod, which is the second one; NULL: there is no DEST. */
static const char *find_destination(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon ? strchr(colon + 1, ':') : NULL;
}

static int add_one(const char *text, struct json *document, char **ret_place, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *colon = find_destination(text);
	struct fetch fetch;
	int rc = fetch_read(colon ? arena_format(arena, "%.*s", (int) (colon - text), text) : text,
			    arena, &fetch, err);

	if (rc == 0 && colon)
		rc = parse_fetch_place(colon + 1, ret_place, err);
	if (rc == 0)
		fetch_add(document, &fetch);
	return rc;
}

void fetch_options_add(const struct options *options, struct json *document,
		       struct fetch_places *places, struct text *faults)
{
	struct err err;
	size_t count;
	const char *const *texts = option_list(options, "fetch", &count);

	if (!count)
		return;
	json_remove(json_get_path(document, "metadata", "annotations", NULL), JOB_ANNOTATION_FETCH);
	places->list = mem_new_array(count, sizeof(*places->list));
	places->count = count;
	for (size_t i = 0; i < count; i++)
		if (add_one(texts[i], document, &places->list[i], &err) < 0)
			text_addf(faults, "--fetch %s: %s\n", texts[i], err.text);
}
