/* muster wait: waits until a job has finished, and exits with the job's own code. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/watch.h"
#include "io/loop.h"
#include "reconcile/reconcile.h"

/* What was observed of the job. */
struct sight {
	const struct found_job *job;
	int exit_code; /* -1 until it has finished */
	bool is_unsupervised;
};

static bool on_awaited_status(const struct json *job, const struct status *status, void *data)
{
	struct sight *sight = data;
	bool was_unsupervised = sight->is_unsupervised;
	const struct found_job *found = sight->job;
	const struct failure *failure = status->failure;

	/* The code of a job whose finish was not observed is uncertain; a replica may have been
	 * deleted, too. */
	if (sight->exit_code < 0 && status_is_finished(status) && failure && !failure->role &&
	    (text_equals(failure->reason, RECONCILE_DELETED) ||
	     text_equals(failure->reason, RECONCILE_END_UNKNOWN)))
		output_print_message("%s", failure->message);
	sight->exit_code = status->exit_code;
	sight->is_unsupervised = client_job_is_unsupervised(job);
	if (sight->is_unsupervised && !was_unsupervised && !status_is_finished(status)) {
		char *words CLEANUP(mem_free_text) = found_job_words(found);

		output_print_message(
			"job '%s' has no active supervisor, so nothing restarts or stops it; to "
			"take over: 'muster attach %s'",
			found->name, words);
	}
	return watch_is_left(job, status) || (sight->is_unsupervised && status_is_finished(status));
}

/* Errors of wait differ from the codes of jobs. */
static int report_wait_failure(const struct err *err)
{
	if (err->code != ERR_NOT_FOUND)
		return kube_cluster_fail(err);
	output_fail(err);
	return EXIT_INTERNAL;
}

static int wait_for_job(const struct found_job *job, instant until)
{
	struct err err = {0};
	struct sight sight = {.job = job, .exit_code = -1};
	enum watch_end end;

	if (watch_job(job->client, job->name, until, MSEC_NEVER, on_awaited_status, &sight, &end,
		      &err))
		return report_wait_failure(&err);
	if (end == WATCH_OVERDUE && (sight.exit_code < 0 || loop_has_come(until)))
		return output_fail_with(EXIT_OVERDUE, "job '%s' has not ended yet", job->name);
	/* Also when no process is left that would update its record, or its supervisor has cleaned
	 * up. */
	if (end == WATCH_ENOUGH || sight.exit_code >= 0)
		return sight.exit_code;
	return output_fail_with(EXIT_INTERNAL, "job '%s' was deleted before it ended", job->name);
}

/* Returns the code of the first job, in the order of the arguments, that did not succeed. */
static int wait_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	msec timeout = option_duration(options, "timeout", -1);
	instant until = loop_instant_after(timeout < 0 ? MSEC_NEVER : timeout);
	size_t count = options_n_arguments(options);
	struct found_job *jobs CLEANUP(mem_free_any) = mem_new_array(count + 1, sizeof(*jobs));
	int exit_code = EXIT_DONE;
	struct err err = {0};

	if (count == 0)
		count = 1; /* its name is NULL: the newest job */
	/* All of them are looked up first: a wrong name is reported before the long wait. */
	for (size_t i = 0; i < count; i++)
		if (lookup_job(lookup, options_arguments(options)[i], &jobs[i], &err))
			exit_code = report_wait_failure(&err);
	bool are_found = exit_code == EXIT_DONE;

	for (size_t i = 0; are_found && i < count; i++) {
		int code = wait_for_job(&jobs[i], until);

		if (code != EXIT_DONE && count > 1 && code != EXIT_OVERDUE)
			output_print_message("job '%s' ended with code %d", jobs[i].name, code);
		exit_code = exit_code ? exit_code : code;
	}
	return exit_code;
}

static const struct option_row rows_of_wait[] = {
	OPTION("timeout", DURATION, "TIME", NULL,
	       "stop waiting after this time, with exit code 124"),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_wait = {
	.name = "wait",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB...]",
	.one_line = "wait until jobs end, and exit with their exit code",
	.examples = "  muster wait digits-x7k2p\n"
		    "  muster wait --timeout 10m digits-x7k2p\n"
		    "  muster wait digits-x7k2p digits-m4t9z\n"
		    "  muster wait -n research digits-x7k2p\n",
	.options = rows_of_wait,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = wait_run,
};
