/* muster attach: shows a job's output and status until it finishes, and exits with its code. Takes
 * over a job on a cluster that has no active supervisor. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"
#include "cli/run_here.h"
#include "cli/watch.h"
#include "console/console.h"
#include "io/folder.h"
#include "io/own_process.h"
#include "reconcile/reconcile.h"
#include "reconcile/report.h"

#include <signal.h>
#include <unistd.h>

#define EXIT_INTERRUPTED (EXIT_BY_SIGNAL + SIGINT)

/* A local job that is followed. */
struct attachment {
	const struct options *options;
	const struct found_job *found;
	struct job_state state;
	char *folder; /* of its logs */
	struct loop *loop;
	struct console *console;
	struct folder_watch *watch;
	struct loop_watch *interrupt;
	struct console_options console_options;
	bool is_ending; /* only the terminal is waited for */
	int exit_code;
};

static void attachment_done(struct attachment *attachment)
{
	folder_watch_free(attachment->watch);
	loop_watch_free(attachment->interrupt);
	console_free(attachment->console);
	console_options_done(&attachment->console_options);
	loop_free(attachment->loop);
	mem_free_text(&attachment->folder);
	job_state_done(&attachment->state);
}

static bool is_attached_job_over(const struct attachment *attachment)
{
	return watch_is_over(attachment->state.object, &attachment->state.status, NULL);
}

/* Following. */

static void on_drained(void *data)
{
	struct attachment *attachment = data;

	loop_stop(attachment->loop);
}

static void finish_attachment(struct attachment *attachment)
{
	struct job_state *state = &attachment->state;
	bool is_deleted = job_state_read(attachment->found, state, NULL) == ERR_NOT_FOUND;
	struct plan plan;

	/* Its record was deleted, or cannot be read: the last known status is out of date. */
	if (!status_is_finished(&state->status)) {
		reconcile_lost(state->job, &state->status,
			       is_deleted ? RECONCILE_DELETED : RECONCILE_END_UNKNOWN,
			       is_deleted ? "its record was deleted" : "its result is not known",
			       loop_now(), state->arena, &plan);
		state->status = plan.status;
	}
	attachment->is_ending = true;
	attachment->exit_code = state->status.exit_code;
	console_finish(attachment->console, &state->status, on_drained, attachment);
}

static void on_folder_news(enum folder_news news, const char *file_name, void *data)
{
	struct attachment *attachment = data;
	const struct found_job *found = attachment->found;
	struct err err = {0};
	bool are_notes = !file_name || strcmp(file_name, "muster.log") == 0;

	if (attachment->is_ending)
		return;
	console_on_output(attachment->console);
	if (news == FOLDER_GONE) {
		finish_attachment(attachment);
	} else if (are_notes && news == FOLDER_FILE_CLOSED) {
		/* The supervisor's own log was closed: it has exited. If it was killed, the job is
		 * cleaned up now. */
		int rc = watch_until_settled(found->client, found->name, &err);

		if (rc < 0 && rc != ERR_NOT_FOUND)
			output_print_message("%s", err.text);
		finish_attachment(attachment);
	} else if (are_notes && job_state_read(found, &attachment->state, NULL) == 0) {
		console_on_status(attachment->console, &attachment->state.status);
	}
}

static void on_attach_interrupt(int signal_number, void *data)
{
	struct attachment *attachment = data;

	(void) signal_number;
	console_print(attachment->console, "detached; the job is still running");
	attachment->exit_code = EXIT_INTERRUPTED;
	loop_stop(attachment->loop);
}

static int set_up_attachment(struct attachment *attachment, struct err *err)
{
	int rc = loop_new(&attachment->loop, err);

	if (rc < 0)
		return rc;
	char *words CLEANUP(mem_free_text) =
		lookup_words(attachment->options, NULL, attachment->found->name);
	const struct console_settings settings = {
		.loop = attachment->loop,
		.job_words = words,
		.log_folder = attachment->folder,
		.lines_fd = STDOUT_FILENO,
		.chatter_fd = STDERR_FILENO,
		.style = attachment->console_options.style,
	};

	attachment->interrupt =
		loop_watch_signal(attachment->loop, SIGINT, on_attach_interrupt, attachment);
	rc = console_new(&settings, attachment->state.job, &attachment->console, err);
	if (rc == 0)
		rc = folder_watch_new(attachment->loop, attachment->folder, on_folder_news,
				      attachment, &attachment->watch, err);
	/* Watches first and reads then, so that no finish between the two is missed. */
	return rc < 0 ? rc : job_state_read(attachment->found, &attachment->state, err);
}

static int run_attachment(struct attachment *attachment, struct err *err)
{
	int rc = set_up_attachment(attachment, err);

	if (rc < 0)
		return rc;
	console_on_status(attachment->console, &attachment->state.status);
	if (is_attached_job_over(attachment))
		finish_attachment(attachment);
	loop_run(attachment->loop);
	return 0;
}

static int print_attached_outcome(const struct attachment *attachment)
{
	const struct status *status = &attachment->state.status;
	struct text text CLEANUP(text_done) = {0};
	char *words CLEANUP(mem_free_text) =
		lookup_words(attachment->options, NULL, attachment->found->name);
	const struct failure_style style = {
		.offset = time_zone_offset_on(STDERR_FILENO, status->completion_time),
		.is_resumable = !attachment->state.job->elastic_id};

	report_outcome(attachment->state.job, status, words, &style, &text);
	output_print_errors(&text);
	return status->exit_code;
}

static int attach_here(const struct options *options, const struct found_job *found)
{
	struct attachment attachment CLEANUP(attachment_done) = {
		.options = options, .found = found, .exit_code = EXIT_INTERNAL};
	struct err err = {0};

	if (job_state_read_job(found, &attachment.state, &err) < 0 ||
	    found->client->functions->log_folder(found->client, found->name, &attachment.folder,
						 &err) < 0 ||
	    console_options_read(options, attachment.state.job, &attachment.console_options, &err) <
		    0)
		return attach_fail(&err);
	if (is_attached_job_over(&attachment))
		return print_attached_outcome(&attachment);
	if (option_flag(options, "detach"))
		return output_fail_with(
			EXIT_REFUSED, "job '%s' runs on this machine and already has a supervisor",
			found->name);
	return run_attachment(&attachment, &err) < 0 ? attach_fail(&err) : attachment.exit_code;
}

int attach_fail(const struct err *err)
{
	int exit_code = kube_cluster_fail(err);

	if (err->code == ERR_CONFLICT) /* nothing is wrong with the cluster or the job */
		return EXIT_REFUSED;
	return err->code == ERR_NOT_FOUND ? EXIT_INTERNAL : exit_code;
}

static int attach_on_its_cluster(const struct found_job *found)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (found->client->functions->get(found->client, found->name, &object, &err))
		return attach_fail(&err);
	bool is_tfjob = client_job_is_served(object);

	if (is_tfjob && option_flag(found->options, "detach"))
		return output_fail_with(
			EXIT_REFUSED,
			"job '%s' is a TFJob, which an operator supervises; there is nothing to "
			"take over",
			found->name);
	return cluster_support->attach(found->options, found->namespace_name, found->name,
				       is_tfjob);
}

static int attach_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job found = {0};
	struct err err = {0};

	if (lookup_job(lookup, options_arguments(options)[0], &found, &err))
		return attach_fail(&err);
	if (!found.namespace_name)
		return attach_here(options, &found);
	return attach_on_its_cluster(&found);
}

static const struct option_row rows_of_attach[] = {
	FLAG("detach", "take the job over in the background and print nothing", .letter = 'd'),
	FLAG("trust",
	     "take over a job created elsewhere, even if its Pods ask for extra privileges"),
	CONSOLE_ROWS(OPTIONS_OF_COMMAND),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_attach = {
	.name = "attach",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB]",
	.one_line =
		"follow a job until it ends; on a cluster, supervise it if no other muster does",
	.examples = "  muster attach digits-x7k2p\n"
		    "  muster attach -d kubernetes/team/digits-x7k2p\n",
	.options = rows_of_attach,
	.most_arguments = 1,
	.run = attach_run,
};
