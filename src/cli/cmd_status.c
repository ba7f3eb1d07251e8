/* muster status: all facts about one job. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/elastic_status.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/status_text.h"
#include "cli/watch.h"
#include "command/options.h"
#include "command/output.h"
#include "io/terminal.h"

#include <string.h>
#include <unistd.h>

/* How `status` shows a job, once or at each change. */
struct display {
	char *words; /* the job's name on a command line */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
	const char *format; /* of -o; NULL: none */
	struct status_style style;
	struct text last; /* the last output */
	watch_fn show;
	bool has_ended;
	struct err err;
};

static void display_done(struct display *display)
{
	text_done(&display->last);
	mem_free_text(&display->words);
}

static bool show_object(const struct json *object, const struct status *status, void *data)
{
	const struct display *display = data;

	output_add_object(object, display->format);
	return !output_flush() || watch_is_over(object, status, NULL);
}

static bool show_screen(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0}, screen CLEANUP(text_done) = {0};
	bool is_over = watch_is_over(object, status, NULL);

	if (status_text_add(object, status, display->words, &display->style, &text, &display->err))
		return true;
	redraw_add(text_of(&text), is_over, &screen);
	return output_add_changed(&screen, output_add_screen, &display->last) || is_over;
}

static bool show_line(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return status_text_add_line(object, status, &text, &display->err) ||
	       output_add_changed(&text, output_add, &display->last) ||
	       watch_is_over(object, status, NULL);
}

static bool show_once(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return status_text_add(object, status, display->words, &display->style, &text,
			       &display->err) ||
	       output_add_changed(&text, output_add, &display->last) || true;
}

static bool show_object_once(const struct json *object, const struct status *status, void *data)
{
	show_object(object, status, data);
	return true;
}

static bool show_name(const struct json *object, const struct status *status, void *data)
{
	const struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	(void) status;
	text_addf(&text, "%s/%s\n", display->where,
		  json_as_string(json_get_path(object, "metadata", "name", NULL), ""));
	output_add(&text);
	return true;
}

static watch_fn choose_display(const char *format, bool is_watched)
{
	if (text_equals(format, "name"))
		return show_name;
	if (format && !text_equals(format, "wide"))
		return is_watched ? show_object : show_object_once;
	if (!is_watched)
		return show_once;
	return terminal_understands_escapes(STDOUT_FILENO) ? show_screen : show_line;
}

/* On a terminal, durations advance. */
static msec period_of(const struct display *display)
{
	return display->show == show_screen ? MSEC_PER_SECOND : MSEC_NEVER;
}

static bool show_change(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;

	display->has_ended = status_is_finished(status);
	return display->show(object, status, data);
}

/* Returns the exit code, or an error of the job's client. */
static int try_to_show(const struct options *options, const struct found_job *job, struct err *err)
{
	struct display display CLEANUP(display_done) = {
		.where = job->where,
		.format = option_text(options, "output"),
		.style = {.is_wide = option_is_given(options, "output"),
			  .is_local = times_are_local(options)},
	};
	enum watch_end end;

	display.words = lookup_words(job->options, lookup_namespace(job), job->name);
	display.show = choose_display(display.format, option_flag(options, "watch"));
	if (watch_job_often(job->client, job->name, period_of(&display), show_change, &display,
			    &end, err))
		return err->code;
	if (display.err.code)
		return output_fail(&display.err);
	if (end == WATCH_GONE && !display.has_ended)
		output_print_message("job '%s' was deleted", job->name);
	return EXIT_DONE;
}

/* A job that was found by its record and is still active has another name since the lookup. */
static int show_job(const struct options *options, struct lookup *lookup,
		    const struct found_job *job)
{
	struct found_job again = {0};
	struct err err = {0};
	int rc = try_to_show(options, job, &err);

	if (rc == ERR_NOT_FOUND && lookup_job(lookup, job->name, &again, &err) == 0)
		rc = try_to_show(options, &again, &err);
	return rc < 0 ? output_fail(&err) : rc;
}

/* Between two jobs: a blank line, or the separator of YAML documents. */
static void part(const struct options *options)
{
	struct text text CLEANUP(text_done) = {0};
	const char *format = option_text(options, "output");

	if (!format || text_equals(format, "wide"))
		text_add_char(&text, '\n');
	else if (text_equals(format, "yaml"))
		text_add(&text, "---\n");
	output_add(&text);
}

static int show_newest(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job job = {0};
	struct err err = {0};

	return lookup_newest_job(lookup, &job, &err) ? output_fail(&err)
						     : show_job(options, lookup, &job);
}

static int status_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs CLEANUP(found_jobs_done) = {0};
	size_t n_arguments;
	int exit_code;

	if (option_text(options, "rdzv-endpoint"))
		return elastic_status(options);
	options_arguments(options, &n_arguments);
	if (n_arguments == 0)
		return show_newest(options);
	if (n_arguments > 1 && option_flag(options, "watch")) {
		output_print_message(
			"-w: follows one job only; to follow all jobs: 'muster ps -w'");
		return EXIT_USAGE;
	}
	exit_code = lookup_jobs(lookup, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		if (i > 0)
			part(options);
		int shown = show_job(options, lookup, &jobs.list[i]);

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
