/* muster resume: resumes suspended jobs, and restarts jobs that were stopped or have failed. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/local_jobs.h"
#include "cli/run_here.h"
#include "jobs/registration.h"
#include "local/machine_gpus.h"
#include "local/supervision.h"
#include "status/status.h"

/* The work that is possible with an open store. *ret_has_ended: there is more to do. */
static int resume_without_fork(const struct found_job *found, bool *ret_has_ended, struct err *err)
{
	struct job_state state CLEANUP(job_state_done) = {0};
	char *words CLEANUP(mem_free_text) = found_job_words(found);

	if (job_state_read(found, &state, err))
		return err->code;
	if (status_is_finished(&state.status)) {
		*ret_has_ended = !client_job_is_served(state.object) && !found->namespace_name;
		if (*ret_has_ended)
			return 0;
		/* Its objects are about to be deleted, or it has no supervisor that would delete
		 * them. */
		if (!client_job_is_served(state.object))
			return err_set(
				err, ERR_REFUSED,
				"job '%s' has ended and cannot be resumed; delete its "
				"remaining objects with 'muster delete %s', then run it again",
				found->name, words);
		return err_set(err, ERR_REFUSED,
			       "job '%s' has finished, and a finished TFJob cannot be restarted; "
			       "delete it with 'muster delete %s', then create it again",
			       found->name, words);
	}
	if (json_get_path(state.object, "metadata", "annotations", JOB_ANNOTATION_STOP, NULL))
		return err_set(
			err, ERR_REFUSED,
			"job '%s' is stopping; resume it after it has ended (muster wait %s)",
			found->name, words);
	const struct json *suspend =
		json_get_path(state.object, "spec", "runPolicy", "suspend", NULL);
	/* A job without an active supervisor gets an error that says so. */
	if (!json_as_bool(suspend, false) && !client_job_is_unsupervised(state.object)) {
		output_print_message("job '%s' is already running", found->name);
		return 0;
	}
	int rc = change_suspension(found, false, err);

	if (rc == 0)
		output_print_message("job '%s' was resumed; to follow it: muster attach %s",
				     found->name, words);
	return rc;
}

/* Finished jobs are left to the second round, when no store is open: a supervisor starts with a
 * fork. */
static int first_round(const struct options *options, struct arena *arena, const char **ended,
		       size_t *n_ended)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs = {0};

	lookup_take_names(lookup, LOOKUP_UNGENERATED);
	int exit_code = lookup_jobs(lookup, &jobs);

	for (size_t i = 0; i < jobs.count; i++) {
		struct err err = {0};
		bool has_ended = false;

		if (resume_without_fork(&jobs.list[i], &has_ended, &err))
			exit_code = output_fail(&err);
		if (has_ended)
			ended[(*n_ended)++] = arena_copy_text(arena, jobs.list[i].name);
	}
	return exit_code;
}

static int read_ended(const char *state_folder, const char *name, struct job **ret_job,
		      struct err *err)
{
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, err);

	return rc < 0 ? rc : resumption_read(store, name, ret_job, err);
}

static int resume_local_job(const struct options *options, const char *state_folder,
			    const char *name)
{
	struct err err = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	char *words CLEANUP(mem_free_text) = lookup_words(options, NULL, name);
	struct text told CLEANUP(text_done) = {0};
	struct gpus gpus = {0};
	int exit_code;

	machine_gpus_find(getenv(GPUS_VARIABLE), arena, &gpus);
	if (read_ended(state_folder, name, &job, &err) ||
	    machine_gpus_check_free(&gpus, job, state_folder, &told, &err))
		return output_fail(&err);
	if (told.len)
		output_print_message("%s", text_of(&told));
	run_limit_here(job, true);
	struct supervisor_request request = {
		.base = {.job_words = words, .state_folder = state_folder, .is_detached = true},
		.job = job,
		.gpus = &gpus,
		.is_resumed = true,
	};

	if (supervisor_run(&request, &exit_code, &err))
		return output_fail(&err);
	output_print_message(
		"job '%s' was resumed in the background; to follow it: muster attach %s", name,
		words);
	return EXIT_DONE;
}

static int resume_run(const struct options *options)
{
	size_t n_ended = 0;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *folder CLEANUP(mem_free_text) = NULL;

	const char **ended = arena_take_array(arena, options_n_arguments(options), sizeof(*ended));
	int exit_code = first_round(options, arena, ended, &n_ended);

	if (n_ended > 0)
		folder = local_jobs_folder(options);
	/* A supervisor changes to the directory in which its job was started. */
	char *absolute CLEANUP(mem_free_text) = folder ? realpath(folder, NULL) : NULL;

	if (folder && !absolute)
		return output_fail_with(EXIT_FAILED, "directory '%s' not found", folder);
	for (size_t i = 0; i < n_ended; i++) {
		int code = resume_local_job(options, absolute, ended[i]);

		exit_code = code ? code : exit_code;
	}
	return exit_code;
}

const struct command command_resume = {
	.name = "resume",
	.group = "Change",
	.arguments = "[OPTIONS] JOB...",
	.one_line = "restart jobs that were suspended or stopped, or that failed",
	.examples = "  muster resume digits-x7k2p\n"
		    "  muster resume -n research digits-x7k2p\n",
	.options = cluster_job_rows,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = resume_run,
};
