#include "engine/client.h"

#include "base/text.h"

#include <stdlib.h>

bool client_job_is_unwatched(const struct json *job)
{
	const struct json *watcher = json_get_path(job, "status", CLIENT_WATCHED_BY, NULL);

	return text_equals(json_as_string(watcher, NULL), "");
}

static void row_done(struct client_row *row)
{
	free(row->name);
	free(row->uid);
	free(row->state);
	free(row->roles);
	free(row->where);
	free(row->namespace_name);
	free(row->message);
}

void client_rows_free(struct client_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_done(&rows[i]);
	free(rows);
}
