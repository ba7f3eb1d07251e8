/* muster stop: stops jobs gracefully, and waits until all their processes have exited. */
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/watch.h"
#include "reconcile/waiting_reason.h"
#include "spec/job.h"
#include "status/status.h"

#include <unistd.h>

/* The live line of a stop: the replicas that are waited for. */
struct progress {
	const char *name;
	bool is_terminal; /* else one message */
	bool is_told;
	bool is_trouble_told; /* reported: the processes that ignore the signal */
	bool is_unsupervised; /* the supervisor that was to stop it has exited */
};

static bool is_live(const struct replica_status *replica)
{
	return replica->state == REPLICA_RUNNING || replica->state == REPLICA_STOPPING;
}

static void print_stop_progress(struct progress *progress, const struct json *tfjob,
				const struct status *status)
{
	struct text text CLEANUP(text_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (progress->is_told && !progress->is_terminal)
		return;
	replica_names_add(&text, status, is_live);
	if (!text.len)
		return;
	/* With the grace period: that of the command line, which the job has by now, or the job's
	 * own. */
	if (!progress->is_told && client_read_job(tfjob, &job, NULL) == 0 && job->grace > 0) {
		text_add(&text, ", up to ");
		text_add_duration(&text, job->grace);
	}
	output_print_message("%s: waiting for %s", progress->name, text_of(&text));
	progress->is_told = true;
}

static bool show_progress(const struct json *job, const struct status *status, void *data)
{
	struct progress *progress = data;
	struct text lines CLEANUP(text_done) = {0};

	progress->is_unsupervised = client_job_is_unsupervised(job) && !status_is_finished(status);
	if (watch_is_left(job, status) || progress->is_unsupervised)
		return true;
	print_stop_progress(progress, job, status);
	waiting_reasons_describe(status, "", &lines); /* as `run` prints them on a terminal */
	if (!progress->is_trouble_told && lines.len) {
		output_print_errors(&lines);
		progress->is_trouble_told = true;
	}
	return false;
}

static int begin_stop(const struct options *options, const struct found_job *job, struct err *err)
{
	msec grace = option_flag(options, "now") ? 0 : option_duration(options, "grace", -1);

	return job->client->functions->stop(job->client, job->name,
					    stop_reason_words[STOP_REQUESTED], grace, err);
}

/* A job on a cluster is deleted when it has finished. A job that is no longer supervised is
 * rejected, as it would have been before. */
static int wait_for_stopped_job(const struct options *options, const struct found_job *job,
				struct err *err)
{
	struct progress progress = {.name = job->name, .is_terminal = isatty(STDERR_FILENO)};
	enum watch_end end;
	int rc = watch_job(job->client, job->name, INSTANT_NEVER, MSEC_NEVER, show_progress,
			   &progress, &end, err);

	if (rc == 0 && end == WATCH_ENOUGH && progress.is_unsupervised)
		rc = begin_stop(options, job, err);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* All jobs are asked before the first is waited for, so that they stop at the same time: the last
 * first, because it may wait in the queue for an earlier one. */
static int stop_run(const struct options *options)
{
	struct err err = {0};

	if (option_flag(options, "now") && option_is_given(options, "grace"))
		return output_fail_with(EXIT_USAGE, "--now: cannot be used with --grace");

	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs = {0};

	lookup_take_names(lookup, LOOKUP_UNGENERATED);
	int exit_code = lookup_jobs(lookup, &jobs);

	if (options_n_arguments(options) == 0) {
		if (lookup_only_running_job(lookup, &jobs.list[0], &err) < 0)
			return output_fail(&err);
		jobs.count = 1;
	}
	for (size_t i = jobs.count; i-- > 0;) {
		if (begin_stop(options, &jobs.list[i], &err)) {
			exit_code = output_fail(&err);
			jobs.list[i].client = NULL; /* it is not waited for */
		}
	}
	for (size_t i = 0; i < jobs.count && option_flag(options, "wait"); i++)
		if (jobs.list[i].client && wait_for_stopped_job(options, &jobs.list[i], &err))
			exit_code = output_fail(&err);
	return exit_code;
}

static const struct option_row rows_of_stop[] = {
	OPTION("grace", DURATION, "TIME", NULL,
	       "grace period between the signal and SIGKILL (default: the job's, or 30s)"),
	FLAG("now", "kill immediately, without a grace period"),
	OPTION("wait", FLAG, NULL, "true",
	       "wait until the jobs have ended (--no-wait: return immediately)"),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_stop = {
	.name = "stop",
	.group = "Change",
	.arguments = "[OPTIONS] [JOB...]",
	.one_line = "stop jobs gracefully: a signal, a grace period, then SIGKILL",
	.examples = "  muster stop digits-x7k2p\n"
		    "  muster stop --grace 2m digits-x7k2p\n"
		    "  muster stop --now digits-x7k2p\n"
		    "  muster stop kubernetes/research/digits-x7k2p\n",
	.options = rows_of_stop,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = stop_run,
};
