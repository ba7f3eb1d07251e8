/* muster delete: stops running jobs, and deletes their records and logs. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "spec/job.h"

static int delete_job_record(const struct found_job *job, struct err *err)
{
	int rc = job->client->functions->remove(job->client, job->name, err);

	/* Another process deleted it first, or the name was given twice. */
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* The record of a job whose cluster no longer exists would stay for ever. */
static void hint_at_forgetting(const struct options *options, struct lookup *lookup,
			       const struct found_jobs *jobs)
{
	char *choice CLEANUP(mem_free_text) = lookup_choice(options, false);
	struct found_job kept;
	const char *const *arguments = options_arguments(options);

	for (size_t i = 0; jobs->count == 0 && arguments[i]; i++)
		if (lookup_remembered(lookup, arguments[i], &kept, NULL) == 0)
			output_print_message(
				"if its cluster no longer exists, delete the local record: "
				"'muster delete --forget %s%s'",
				arguments[i], choice);
}

/* All jobs are asked to stop before the first is waited for, so that they stop at the same time.
 * Errors of that are ignored: the deletion meets them again. */
static int delete_named(const struct options *options, struct lookup *lookup)
{
	struct err err = {0};
	struct found_jobs jobs = {0};
	int exit_code = lookup_jobs(lookup, &jobs);

	if (exit_code != EXIT_DONE)
		hint_at_forgetting(options, lookup, &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		(void) !jobs.list[i].client->functions->stop(jobs.list[i].client, jobs.list[i].name,
							     stop_reason_words[STOP_REQUESTED], -1,
							     NULL);
	for (size_t i = 0; i < jobs.count; i++)
		if (delete_job_record(&jobs.list[i], &err))
			exit_code = output_fail(&err);
	return exit_code;
}

/* The cluster is not contacted. */
static int delete_named_records(const struct options *options, struct lookup *lookup)
{
	struct err err = {0};
	int exit_code = EXIT_DONE;
	const char *const *arguments = options_arguments(options);

	for (size_t i = 0; arguments[i]; i++) {
		struct found_job job;

		if (lookup_remembered(lookup, arguments[i], &job, &err) ||
		    delete_job_record(&job, &err))
			exit_code = output_fail(&err);
	}
	return exit_code;
}

static int compare_end(const void *a, const void *b)
{
	const struct client_row *row = a, *other = b;

	return (row->completion_time < other->completion_time) -
	       (row->completion_time > other->completion_time);
}

/* On this machine, or on the cluster that the options select; with --keep, the jobs that finished
 * last are kept. */
static int delete_finished(const struct options *options, struct lookup *lookup)
{
	struct err err = {0};
	struct client *client = NULL;
	struct client_row *rows = NULL;
	size_t count = 0;
	int exit_code = EXIT_DONE;
	int64_t n_kept = option_number(options, "keep", 0);
	msec newest = loop_now() - option_duration(options, "older-than", 0);
	int rc = lookup_client(lookup, lookup_means_cluster(options), NULL, &client, &err);

	if (rc || client->functions->list(client, &rows, &count, &err))
		return output_fail(&err);
	qsort(rows, count, sizeof(*rows), compare_end);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].is_finished || n_kept-- > 0 || rows[i].completion_time > newest)
			continue;
		rc = client->functions->remove(client, rows[i].name, &err);
		if (rc && rc != ERR_NOT_FOUND)
			exit_code = output_fail(&err);
	}
	client_rows_free(rows, count);
	return exit_code;
}

static int delete_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	bool is_all_finished = option_flag(options, "all-finished");
	bool is_limited =
		option_text(options, "older-than") || option_number(options, "keep", -1) >= 0;

	lookup_take_names(lookup, LOOKUP_WHOLE);
	if (is_all_finished == (options_n_arguments(options) > 0))
		return output_fail_with(
			EXIT_USAGE,
			"delete: missing job name; name the jobs, or use --all-finished");
	if (option_flag(options, "forget") && is_all_finished)
		return output_fail_with(EXIT_USAGE, "delete: --forget needs job names");
	if (!is_all_finished && is_limited)
		return output_fail_with(EXIT_USAGE,
					"delete: --older-than and --keep need --all-finished");
	if (option_flag(options, "forget"))
		return delete_named_records(options, lookup);
	return is_all_finished ? delete_finished(options, lookup) : delete_named(options, lookup);
}

static const struct option_row rows_of_delete[] = {
	FLAG("all-finished", "delete every finished job"),
	OPTION("older-than", DURATION, "DURATION", NULL,
	       "with --all-finished: only jobs that ended longer ago than this (7d)"),
	OPTION("keep", NUMBER, "N", NULL, "with --all-finished: keep the N jobs that ended last",
	       .high = INT64_MAX),
	FLAG("forget", "delete only the local record and logs, for a job whose cluster is gone"),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_delete = {
	.name = "delete",
	.group = "Change",
	.arguments = "[OPTIONS] JOB...\n[OPTIONS] --all-finished",
	.one_line = "delete jobs and their logs; running jobs are stopped first",
	.examples = "  muster delete digits-x7k2p\n"
		    "  muster delete kubernetes/research/digits-x7k2p\n"
		    "  muster delete --all-finished\n"
		    "  muster delete --all-finished --older-than 7d --keep 20\n"
		    "  muster delete --forget digits-x7k2p\n",
	.options = rows_of_delete,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = delete_run,
};
