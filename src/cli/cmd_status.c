/* muster status: everything that is known of one job. */
#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/status_text.h"
#include "cli/watch.h"
#include "core/line_width.h"
#include "io/terminal.h"

#include <string.h>
#include <unistd.h>

/* How `status` shows a job, once or at each change. */
struct display {
	char *words; /* how a command line names the job */
	const char *where; /* "local", "kubernetes/NAMESPACE" */
	const char *format; /* of -o; NULL: none */
	struct text last; /* what was shown before */
	watch_fn show;
	bool has_ended;
	struct err err;
};

static void display_done(struct display *display)
{
	text_done(&display->last);
	mem_free_text(&display->words);
}

/* Shows a text that is not what was shown before; true when nothing more arrives. */
static bool show_text(struct display *display, const struct text *text)
{
	if (text_equals(text_of(text), text_of(&display->last)))
		return false;
	output_add(text);
	text_clear(&display->last);
	text_add(&display->last, text_of(text));
	return !output_flush();
}

#define TO_THE_TOP "\x1b[H"
#define ERASE_REST_OF_LINE "\x1b[K"
#define ERASE_BELOW "\x1b[J"

/* Over what was shown before, without a blank moment. The first lines, where a terminal has not
 * enough rows for all: else each look would push a whole table out of it. */
static void add_screen(const char *lines, bool is_whole, struct text *screen)
{
	struct terminal_size size = terminal_size(STDOUT_FILENO);
	size_t n_rows = 0, len;
	const char *at = lines;

	text_add(screen, TO_THE_TOP);
	for (; *at; at += len + 1) {
		len = strcspn(at, "\n");
		n_rows += line_rows(at, len, (size_t) size.columns);
		if (!is_whole && n_rows + 1 >= (size_t) size.rows)
			break;
		text_add_bytes(screen, at, len);
		text_add(screen, ERASE_REST_OF_LINE "\n");
	}
	if (*at)
		text_add(screen, "..." ERASE_REST_OF_LINE "\n");
	text_add(screen, ERASE_BELOW);
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

	if (status_text_add(object, status, display->words, display->format != NULL, &text,
			    &display->err))
		return true;
	add_screen(text_of(&text), is_over, &screen);
	return show_text(display, &screen) || is_over;
}

static bool show_line(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return status_text_add_line(object, status, &text, &display->err) ||
	       show_text(display, &text) || watch_is_over(object, status, NULL);
}

static bool show_once(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return status_text_add(object, status, display->words, display->format != NULL, &text,
			       &display->err) ||
	       show_text(display, &text) || true;
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

/* On a terminal the times go on. */
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

static int status_run(const struct options *options)
{
	struct err err = {0};
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_job job = {0};
	struct display display CLEANUP(display_done) = {.format = option_text(options, "output")};
	size_t n_arguments;
	const char *argument = options_arguments(options, &n_arguments)[0];
	enum watch_end end;

	if (lookup_job(lookup, argument, &job, &err))
		return output_fail(&err);
	display.words = lookup_words(options, lookup_namespace(&job), job.name);
	display.where = job.where;
	display.show = choose_display(display.format, option_flag(options, "watch"));
	if (watch_job_often(job.client, job.name, period_of(&display), show_change, &display, &end,
			    &err))
		return output_fail(&err);
	if (display.err.code)
		return output_fail(&display.err);
	if (end == WATCH_GONE && !display.has_ended)
		output_say("job '%s' was deleted", job.name);
	return EXIT_DONE;
}

static const struct option_row rows_of_status[] = {
	{.name = "watch",
	 .letter = 'w',
	 .kind = OPTION_FLAG,
	 .one_line = "show every change until the job has ended"},
	{.name = "output",
	 .letter = 'o',
	 .kind = OPTION_WORD,
	 .words = "json|yaml|wide|name",
	 .one_line = "the TFJob with its status, more columns, or the name only"},
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_status = {
	.name = "status",
	.group = "Look",
	.arguments = "[OPTIONS] JOB",
	.one_line = "show one job: its state, its processes, why it failed",
	.examples = "  muster status digits-x7k2p\n"
		    "  muster status -w digits-x7k2p\n"
		    "  muster status -o wide kubernetes/research/digits-x7k2p\n"
		    "  muster status -o json digits-x7k2p | jq .status.replicas\n",
	.options = rows_of_status,
	.least_arguments = 1,
	.most_arguments = 1,
	.run = status_run,
};
