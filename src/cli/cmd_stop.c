/* muster stop: asks jobs for an orderly end, and waits until nothing of them is left. */
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/watch.h"
#include "core/job.h"

#include <unistd.h>

/* The live line of a stop: who is waited for. */
struct progress {
	const char *name;
	bool is_terminal;
};

static void add_live_replicas(const struct status *status, struct text *text)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state == REPLICA_RUNNING || replica->state == REPLICA_STOPPING)
			text_addf(text, " %s-%d", replica->role, replica->index);
	}
}

static bool show_progress(const struct json *job, const struct status *status, void *data)
{
	struct progress *progress = data;
	struct text replicas CLEANUP(text_done) = {0};

	if (watch_is_over(job, status, NULL))
		return true;
	add_live_replicas(status, &replicas);
	if (progress->is_terminal && replicas.len)
		output_say("%s: waiting for%s", progress->name, text_of(&replicas));
	return false;
}

static int begin_stop(const struct options *options, struct client *client, const char *argument,
		      struct err *err)
{
	const char *name;

	if (lookup_name(argument, &name, err))
		return err->code;
	if (client->functions->stop(client, name, stop_reason_words[STOP_REQUESTED],
				    option_duration(options, "grace", -1), err))
		return lookup_hint(client, name, err);
	return 0;
}

static int wait_for_end(struct client *client, const char *argument, struct err *err)
{
	struct progress progress = {.is_terminal = isatty(STDERR_FILENO)};
	enum watch_end end;

	if (lookup_name(argument, &progress.name, err))
		return err->code;
	return watch_job(client, progress.name, MSEC_NEVER, show_progress, &progress, &end, err);
}

/* Every job is asked before the first is waited for, so that they end side by side. */
static int stop_run(const struct options *options)
{
	struct err err = {0};
	struct client *client CLEANUP(lookup_close) = NULL;
	size_t count;
	const char *const *names = options_arguments(options, &count);
	int exit_code = EXIT_DONE;

	if (lookup_open(options, &client, &err))
		return output_fail(&err);
	for (size_t i = 0; i < count; i++)
		if (begin_stop(options, client, names[i], &err))
			exit_code = output_fail(&err);
	if (exit_code || !option_flag(options, "wait"))
		return exit_code;
	for (size_t i = 0; i < count; i++)
		if (wait_for_end(client, names[i], &err))
			exit_code = output_fail(&err);
	return exit_code;
}

static const struct option_row rows_of_stop[] = {
	{.name = "grace",
	 .kind = OPTION_DURATION,
	 .value_name = "TIME",
	 .one_line = "time to save between TERM and KILL (default: the job's own, 30s)"},
	{.name = "wait",
	 .kind = OPTION_FLAG,
	 .otherwise = "true",
	 .one_line = "return when the jobs have ended; --no-wait: at once"},
	{0},
};

const struct command command_stop = {
	.name = "stop",
	.group = "Act",
	.arguments = "[OPTIONS] JOB...",
	.one_line = "end jobs in good order: TERM, time to save, KILL",
	.examples = "  muster stop digits-x7k2p\n"
		    "  muster stop --grace 2m digits-x7k2p\n",
	.options = rows_of_stop,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = stop_run,
};
