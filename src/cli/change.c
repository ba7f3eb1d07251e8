#include "cli/change.h"

#include "base/mem.h"
#include "cli/lookup.h"
#include "status/status.h"

static int check_job_unfinished(const struct json *job, const char *name, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	if (status_read(json_get(job, "status"), arena, &status, err))
		return err->code;
	if (status_is_finished(&status))
		return err_set(err, ERR_REFUSED, "job '%s' has ended", name);
	return 0;
}

int change_job(const struct found_job *found, const struct json *patch, struct err *err)
{
	struct client *client = found->client;
	struct json *job CLEANUP(json_cleanup) = NULL;

	if (client->functions->get(client, found->name, &job, err) ||
	    check_job_unfinished(job, found->name, err))
		return err->code;
	return client->functions->patch(client, found->name, patch, err);
}

int change_suspension(const struct found_job *found, bool is_suspended, struct err *err)
{
	struct json *patch CLEANUP(json_cleanup) = json_new_object();

	json_set_bool(json_object_at(json_object_at(patch, "spec"), "runPolicy"), "suspend",
		      is_suspended);
	return change_job(found, patch, err);
}
