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

int change_job(struct client *client, const char *argument, const struct json *patch,
	       struct err *err)
{
	struct json *job CLEANUP(json_cleanup) = NULL;
	const char *name;

	if (lookup_name(argument, &name, err))
		return err->code;
	if (client->functions->get(client, name, &job, err))
		return lookup_hint(client, name, err);
	if (check_goes_on(job, name, err))
		return err->code;
	return client->functions->patch(client, name, patch, err);
}

int change_suspended(const struct options *options, bool is_suspended)
{
	struct err err = {0};
	struct client *client CLEANUP(lookup_close) = NULL;
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	size_t count;
	const char *const *names = options_arguments(options, &count);
	int exit_code = EXIT_DONE;

	json_set_bool(json_object_at(json_object_at(patch, "spec"), "runPolicy"), "suspend",
		      is_suspended);
	if (lookup_open(options, &client, &err))
		return output_fail(&err);
	for (size_t i = 0; i < count; i++)
		if (change_job(client, names[i], patch, &err))
			exit_code = output_fail(&err);
	return exit_code;
}
