/* muster scale: changes the number of a role's replicas. */
#include "base/mem.h"
#include "cli/change.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "command/options.h"
#include "command/output.h"
#include "spec/job.h"
#include "spec/limits.h"
#include "status/status.h"

#include <assert.h>
#include <string.h>

/* Adds "worker=3" to a patch. The key of the role is as the document spells it. */
static int add_patch_replicas(const struct job *job, const char *argument, struct json *specs,
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

/* Prints all errors but the last, which it returns. */
static int add_counts(const struct job *job, const char *const *counts, size_t n_counts,
		      struct json *specs, struct err *err)
{
	struct err fault;
	int rc = 0;

	for (size_t i = 0; i < n_counts; i++) {
		if (!add_patch_replicas(job, counts[i], specs, &fault))
			continue;
		if (rc)
			output_print_message("%s", err->text);
		*err = fault;
		rc = fault.code;
	}
	return rc;
}

/* One job as it was read: its document and status. */
struct reading {
	struct job *job;
	struct status status;
	struct arena *arena; /* of the status */
};

static void scale_reading_done(struct reading *reading)
{
	job_free(reading->job);
	arena_free(reading->arena);
}

static int read_scaled_job(const struct found_job *found, struct reading *reading, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (found->client->functions->get(found->client, found->name, &object, err))
		return err->code;
	reading->arena = arena_new();
	if (status_read(json_get(object, "status"), reading->arena, &reading->status, err))
		return err->code;
	return client_read_job(object, &reading->job, err);
}

static bool is_any_at_work(const struct reading *reading)
{
	for (size_t i = 0; i < reading->status.n_replicas; i++) {
		enum replica_state state = reading->status.replicas[i].state;

		if (state == REPLICA_STARTING || state == REPLICA_RUNNING)
			return true;
	}
	return false;
}

/* Whether the patch changes a count that the job's other replicas cannot adopt while running. */
static bool restarts_whole(const struct job *job, const struct json *specs)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		const struct json *wanted = json_get_path(specs, role->title, "replicas", NULL);

		if (job_resizes_whole(job, role) &&
		    json_as_integer(wanted, role->replicas) != role->replicas)
			return true;
	}
	return false;
}

static void print_restart_notice(const struct job *job)
{
	struct text grace CLEANUP(text_done) = {0};

	text_add_duration(&grace, job->grace);
	output_print_message(
		"restarting all processes of job '%s': they cannot accept a new number of "
		"replicas while they run. They have %s to save and exit; a script with "
		"checkpoints continues from the last one",
		job->name, text_of(&grace));
}

static int scale(const struct found_job *found, const char *const *counts, size_t n_counts,
		 struct err *err)
{
	struct reading reading CLEANUP(scale_reading_done) = {0};
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	struct json *specs = json_object_at(json_object_at(patch, "spec"), "tfReplicaSpecs");

	if (read_scaled_job(found, &reading, err))
		return err->code;
	assert(reading.job);
	if (add_counts(reading.job, counts, n_counts, specs, err))
		return err->code;
	int rc = change_job(found, patch, err);

	if (rc == 0 && is_any_at_work(&reading) && restarts_whole(reading.job, specs))
		print_restart_notice(reading.job);
	return rc;
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
	.group = "Change",
	.arguments = "[OPTIONS] JOB ROLE=N...",
	.one_line = "change the number of replicas of a role",
	.examples = "  muster scale digits-x7k2p worker=3\n"
		    "  muster scale -n research digits-x7k2p worker=3\n",
	.options = rows_of_scale,
	.least_arguments = 2,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = scale_run,
};
