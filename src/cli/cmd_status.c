/* muster status: all facts about one job. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/elastic_status.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/status_text.h"
#include "cli/watch.h"
#include "io/terminal.h"

#include <unistd.h>

/* How `status` shows a job, once or at each change. */
struct display {
	char *words; /* the job's name on a command line */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
	const char *format; /* of -o; NULL: none */
	struct status_style style;
	struct text last; /* the last output */
	bool is_watched;
	bool is_drawn; /* each time over the last output, on a terminal */
	bool has_ended;
	struct err err;
};

static void display_done(struct display *display)
{
	text_done(&display->last);
	mem_free_text(&display->words);
}

static bool show_job(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};
	bool is_over = !display->is_watched || watch_is_over(object, status, NULL);

	display->has_ended = status_is_finished(status);
	if (text_equals(display->format, "name")) {
		text_addf(&text, "%s/%s\n", display->where,
			  json_as_string(json_get_path(object, "metadata", "name", NULL), ""));
		output_add(&text);
		return true;
	}
	if (display->format && !text_equals(display->format, "wide")) {
		output_add_object(object, display->format);
		return !output_flush() || is_over;
	}
	int rc = display->is_watched && !display->is_drawn
			 ? status_text_add_line(object, status, &text, &display->err)
			 : status_text_add(object, status, display->words, &display->style, &text,
					   &display->err);

	if (rc < 0)
		return true;
	if (!display->is_drawn)
		return output_add_changed(&text, output_add, &display->last) || is_over;
	redraw_add(text_of(&text), is_over, &screen);
	return output_add_changed(&screen, output_add_screen, &display->last) || is_over;
}

/* Returns the exit code, or an error of the job's client. On a terminal, durations advance. */
static int try_to_show(const struct options *options, const struct found_job *job, struct err *err)
{
	bool is_watched = option_flag(options, "watch");
	struct display display CLEANUP(display_done) = {
		.where = job->where,
		.format = option_text(options, "output"),
		.style = {.is_wide = option_is_given(options, "output"),
			  .is_local = times_are_local(options)},
		.is_watched = is_watched,
		.is_drawn = is_watched && terminal_understands_escapes(STDOUT_FILENO),
	};
	msec period = display.is_drawn ? MSEC_PER_SECOND : MSEC_NEVER;
	enum watch_end end;

	display.words = found_job_words(job);
	if (watch_job(job->client, job->name, INSTANT_NEVER, period, show_job, &display, &end, err))
		return err->code;
	if (display.err.code)
		return output_fail(&display.err);
	if (end == WATCH_GONE && !display.has_ended)
		output_print_message("job '%s' was deleted", job->name);
	return EXIT_DONE;
}

/* A job that was found by its record and is still active has another name since the lookup. */
static int show_found(const struct options *options, struct lookup *lookup,
		      const struct found_job *job)
{
	struct found_job again = {0};
	struct err err = {0};
	int rc = try_to_show(options, job, &err);

	if (rc == ERR_NOT_FOUND && lookup_job(lookup, job->name, &again, &err) == 0)
		rc = try_to_show(options, &again, &err);
	return rc < 0 ? output_fail(&err) : rc;
}

static int status_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs = {0};
	size_t n_arguments = options_n_arguments(options);
	const char *format = option_text(options, "output");
	struct found_job newest = {0};
	struct err err = {0};

	if (option_text(options, "rdzv-endpoint"))
		return elastic_status(options);
	if (n_arguments == 0)
		return lookup_newest_job(lookup, &newest, &err)
			       ? output_fail(&err)
			       : show_found(options, lookup, &newest);
	if (n_arguments > 1 && option_flag(options, "watch"))
		return output_fail_with(
			EXIT_USAGE, "-w: follows one job only; to follow all jobs: 'muster ps -w'");
	int exit_code = lookup_jobs(lookup, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		struct text separator CLEANUP(text_done) = {0};

		/* Between two jobs. */
		if (i > 0 && (!format || text_equals(format, "wide")))
			text_add(&separator, "\n");
		else if (i > 0 && text_equals(format, "yaml"))
			text_add(&separator, "---\n");
		output_add(&separator);
		int shown = show_found(options, lookup, &jobs.list[i]);

		exit_code = exit_code ? exit_code : shown;
	}
	return exit_code;
}

static const struct option_row rows_of_status[] = {
	FLAG("watch", "keep watching until the job ends", .letter = 'w'),
	WORDS("output", "json|yaml|wide|name", NULL,
	      "print the TFJob with its status, more columns, or only the name", .letter = 'o'),
	UTC_ROW(OPTIONS_OF_COMMAND),
	ELASTIC_STATUS_ROWS,
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_status = {
	.name = "status",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB...]",
	.one_line = "show a job's state, its replicas, and why it failed",
	.examples = "  muster status\n"
		    "  muster status digits-x7k2p\n"
		    "  muster status -w digits-x7k2p\n"
		    "  muster status -o wide kubernetes/research/digits-x7k2p\n"
		    "  muster status --rdzv-endpoint 10.0.0.1 digits\n"
		    "  muster status -o json digits-x7k2p | jq .status.replicas\n",
	.options = rows_of_status,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = status_run,
};
