#include "cli/change.h"

#include "base/mem.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "core/status.h"

static int check_goes_on(const struct json *job, const char *name, struct err *err)
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
	    check_goes_on(job, found->name, err))
		return err->code;
	return client->functions->patch(client, found->name, patch, err);
}

int change_suspended(const struct options *options, bool is_suspended)
{
	struct err err = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs CLEANUP(found_jobs_done) = {0};
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	int exit_code = lookup_jobs(lookup, &jobs);

	json_set_bool(json_object_at(json_object_at(patch, "spec"), "runPolicy"), "suspend",
		      is_suspended);
	for (size_t i = 0; i < jobs.count; i++)
		if (change_job(&jobs.list[i], patch, &err))
			exit_code = output_fail(&err);
	return exit_code;
}
