/* muster scale: changes how many replicas of a role a job has. */
#include "base/mem.h"
#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "core/job.h"
#include "core/limits.h"

#include <assert.h>
#include <string.h>

/* Adds "worker=3" to a patch. The role's key in the document is the job's own spelling of it. */
static int add_count(const struct job *job, const char *argument, struct json *specs,
		     struct err *err)
{
	const char *equals = strchr(argument, '=');
	int64_t replicas;

	if (!equals)
		return err_set(err, ERR_INVALID, "'%s': write ROLE=N", argument);
	char *name CLEANUP(mem_free_text) = mem_copy_bytes(argument, (size_t) (equals - argument));
	const struct role *role = job_role(job, name);

	if (!role)
		return err_set(err, ERR_INVALID, "job '%s' has no role '%s'", job->name, name);
	if (text_read_int(equals + 1, 0, LIMIT_REPLICAS, &replicas, err))
		return err_prefix(err, "%s", name);
	json_set_integer(json_object_at(specs, role->title), "replicas", replicas);
	return 0;
}

static int read_job(const struct found_job *found, struct job **ret_job, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (found->client->functions->get(found->client, found->name, &object, err))
		return err->code;
	return client_read_job(object, ret_job, err);
}

static int scale(const struct found_job *found, const char *const *counts, size_t n_counts,
		 struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	struct json *specs = json_object_at(json_object_at(patch, "spec"), "tfReplicaSpecs");

	if (read_job(found, &job, err))
		return err->code;
	assert(job);
	for (size_t i = 0; i < n_counts; i++)
		if (add_count(job, counts[i], specs, err))
			return err->code;
	return change_job(found, patch, err);
}

static int scale_run(const struct options *options)
{
	struct err err = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job found;
	size_t count;
	const char *const *arguments = options_arguments(options, &count);

	if (lookup_job(lookup, arguments[0], &found, &err) ||
	    scale(&found, arguments + 1, count - 1, &err))
		return output_fail(&err);
	return EXIT_DONE;
}

static const struct option_row rows_of_scale[] = {CLUSTER_JOB_ROWS, {0}};

const struct command command_scale = {
	.name = "scale",
	.group = "Act",
	.arguments = "[OPTIONS] JOB ROLE=N...",
	.one_line = "change how many replicas of a role a job has",
	.examples = "  muster scale digits-x7k2p worker=3\n"
		    "  muster scale -n research digits-x7k2p worker=3\n",
	.options = rows_of_scale,
	.least_arguments = 2,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = scale_run,
};
