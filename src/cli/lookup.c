#include "cli/lookup.h"

#include "base/mem.h"
#include "base/names.h"
#include "engine/state_folder.h"

#include <string.h>

int lookup_state_folder(const struct options *options, char **ret_folder, struct err *err)
{
	const char *folder = option_text(options, "state-dir");

	if (!folder)
		return state_folder_default(ret_folder, err);
	*ret_folder = mem_copy_text(folder);
	return 0;
}

int lookup_open(const struct options *options, struct client **ret_client, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = NULL;

	if (lookup_state_folder(options, &folder, err))
		return err->code;
	return client_local_new(folder, ret_client, err);
}

void lookup_close(struct client **client)
{
	if (*client)
		(*client)->functions->free(*client);
}

int lookup_name(const char *argument, const char **ret_name, struct err *err)
{
	static const char here[] = "local/";
	const char *name = argument;

	if (text_starts_with(argument, here))
		name = argument + strlen(here);
	if (strchr(name, '/'))
		return err_set(err, ERR_UNSUPPORTED, "'%s': jobs are looked up here only: %s%s",
			       argument, here, strrchr(name, '/') + 1);
	*ret_name = name;
	return 0;
}

/* The job whose name is nearest, copied; NULL when none is near. */
static char *find_nearest(struct client *client, const char *name)
{
	struct client_row *rows = NULL;
	size_t count = 0;

	if (client->functions->list(client, &rows, &count, NULL))
		return NULL;
	const char **names CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = rows[i].name;
	char *nearest = mem_copy_text(name_nearest(names, count, name));

	client_rows_free(rows, count);
	return nearest;
}

int lookup_hint(struct client *client, const char *name, struct err *err)
{
	if (err->code != ERR_NOT_FOUND)
		return err->code;
	char *sentence CLEANUP(mem_free_text) = mem_copy_text(err->text);
	char *nearest CLEANUP(mem_free_text) = find_nearest(client, name);

	if (nearest)
		return err_set(err, ERR_NOT_FOUND, "%s; did you mean '%s'?", sentence, nearest);
	return err_set(err, ERR_NOT_FOUND, "%s; 'muster ps -a' lists the jobs", sentence);
}
