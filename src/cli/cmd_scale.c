/* muster scale: changes the number of a role's replicas. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "spec/job.h"
#include "spec/limits.h"
#include "status/status.h"

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

static bool is_any_at_work(const struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		enum replica_state state = status->replicas[i].state;

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

static int scale(const struct found_job *found, const char *const *counts, size_t n_counts,
		 struct err *err)
{
	struct job_state state CLEANUP(job_state_done) = {0};
	struct text grace CLEANUP(text_done) = {0};
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	struct json *specs = json_object_at(json_object_at(patch, "spec"), "tfReplicaSpecs");

	if (job_state_read_job(found, &state, err) ||
	    add_counts(state.job, counts, n_counts, specs, err))
		return err->code;
	int rc = change_job(found, patch, err);

	if (rc < 0 || !is_any_at_work(&state.status) || !restarts_whole(state.job, specs))
		return rc;
	text_add_duration(&grace, state.job->grace);
	output_print_message(
		"restarting all processes of job '%s': they cannot accept a new number of "
		"replicas while they run. They have %s to save and exit; a script with "
		"checkpoints continues from the last one",
		state.job->name, text_of(&grace));
	return 0;
}

static int scale_run(const struct options *options)
{
	struct err err = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job found;
	const char *const *arguments = options_arguments(options);

	lookup_take_names(lookup, LOOKUP_UNGENERATED);
	if (lookup_job(lookup, arguments[0], &found, &err) ||
	    scale(&found, arguments + 1, options_n_arguments(options) - 1, &err))
		return output_fail(&err);
	return EXIT_DONE;
}

const struct command command_scale = {
	.name = "scale",
	.group = "Change",
	.arguments = "[OPTIONS] JOB ROLE=N...",
	.one_line = "change the number of replicas of a role",
	.examples = "  muster scale digits-x7k2p worker=3\n"
		    "  muster scale -n research digits-x7k2p worker=3\n",
	.options = cluster_job_rows,
	.least_arguments = 2,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = scale_run,
};
