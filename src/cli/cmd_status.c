/* muster status: everything that is known of one job. */
#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/watch.h"
#include "core/failure_text.h"
#include "core/job.h"
#include "core/obstacle.h"
#include "core/summary.h"
#include "io/loop.h"

#include <unistd.h>

/* One job, as it is to be shown. */
struct view {
	const struct json *object;
	const struct status *status;
	struct summary summary;
	bool is_wide;
	msec now;
};

static void add_age(struct table *table, msec from, msec to)
{
	struct text age CLEANUP(text_done) = {0};

	if (from != MSEC_UNSET)
		text_add_duration(&age, to > from ? to - from : 0);
	table_add(table, text_of(&age));
}

static void add_moment(struct text *text, const char *heading, msec time, msec now)
{
	if (time == MSEC_UNSET)
		return;
	text_addf(text, "%-11s", heading);
	text_add_time(text, time);
	text_add(text, " (");
	text_add_duration(text, now > time ? now - time : 0);
	text_add(text, " ago)\n");
}

static const char *name_of(const struct view *view)
{
	return json_as_string(json_get_path(view->object, "metadata", "name", NULL), "");
}

static void add_head(const struct view *view, struct text *text)
{
	const struct summary *summary = &view->summary;

	text_addf(text, "Name:      %s\n", name_of(view));
	text_addf(text, "State:     %s\n", summary->state);
	if (*summary->message)
		text_addf(text, "Message:   %s\n", summary->message);
	text_addf(text, "Roles:     %s\n", summary->roles);
	text_addf(text, "Running:   %d of %d\n", summary->running, summary->wanted);
	text_addf(text, "Restarts:  %d\n", summary->restarts);
	add_moment(text, "Started:", summary->start_time, view->now);
	add_moment(text, "Ended:", summary->completion_time, view->now);
	if (summary->exit_code >= 0)
		text_addf(text, "Exit code: %d\n", summary->exit_code);
}

static void add_conditions(const struct view *view, struct text *text)
{
	static const char *const headings[] = {"CONDITION", "TRUE", "AGE", "REASON", "MESSAGE"};
	struct table table CLEANUP(table_done) = {.n_columns = ARRAY_LEN(headings)};

	if (!view->status->n_conditions)
		return;
	table_add_row(&table, headings);
	for (size_t i = 0; i < view->status->n_conditions; i++) {
		const struct condition *condition = &view->status->conditions[i];

		table_add(&table, condition_type_words[condition->type]);
		table_add(&table, condition->is_true ? "yes" : "no");
		add_age(&table, condition->last_transition, view->now);
		table_add(&table, condition->reason);
		table_add(&table, condition->message);
	}
	text_add_char(text, '\n');
	table_write(&table, text);
}

/* "3", "signal 9" or nothing. */
static void add_end(struct table *table, const struct replica_status *replica)
{
	if (replica->signal)
		table_addf(table, "signal %d", replica->signal);
	else if (replica->exit_code >= 0)
		table_addf(table, "%d", replica->exit_code);
	else
		table_add(table, NULL);
}

static void add_replica(const struct view *view, const struct replica_status *replica,
			struct table *table)
{
	msec end = replica->end_time != MSEC_UNSET ? replica->end_time : view->now;

	table_addf(table, "%s-%d", replica->role, replica->index);
	table_add(table, replica_state_words[replica->state]);
	table_addf(table, "%d", replica->attempt);
	table_addf(table, "%d", replica->restarts);
	if (replica->pid)
		table_addf(table, "%lld", (long long) replica->pid);
	else
		table_add(table, NULL);
	table_add(table, replica->address);
	add_end(table, replica);
	add_age(table, replica->start_time, end);
	if (view->is_wide) {
		table_add(table, replica->reason);
		table_add(table, replica->log);
	}
}

static void add_replicas(const struct view *view, struct text *text)
{
	static const char *const headings[] = {"REPLICA", "STATE", "ATTEMPT", "RESTARTS", "PID",
					       "ADDRESS", "EXIT",  "AGE",     "REASON",   "LOG"};
	struct table table CLEANUP(table_done) = {
		.n_columns = view->is_wide ? ARRAY_LEN(headings) : ARRAY_LEN(headings) - 2};

	if (!view->status->n_replicas)
		return;
	table_add_row(&table, headings);
	for (size_t i = 0; i < view->status->n_replicas; i++)
		add_replica(view, &view->status->replicas[i], &table);
	text_add_char(text, '\n');
	table_write(&table, text);
}

static void add_obstacles(const struct view *view, struct text *text)
{
	struct text lines CLEANUP(text_done) = {0};

	if (status_is_finished(view->status))
		return;
	obstacles_describe(view->status, "  ", &lines);
	if (lines.len)
		text_addf(text, "\nWaiting:\n%s", text_of(&lines));
}

static void add_failure(const struct view *view, struct text *text)
{
	if (!view->status->failure)
		return;
	text_add(text, status_condition_is_true(view->status, CONDITION_FAILED)
			       ? "\nFailure:\n"
			       : "\nCause of the last restart:\n");
	failure_describe(view->status, name_of(view), text);
}

static void add_view(const struct view *view, struct text *text)
{
	add_head(view, text);
	add_conditions(view, text);
	add_replicas(view, text);
	add_obstacles(view, text);
	add_failure(view, text);
}

/* What is made of a job's object to show it. */
struct reading {
	struct arena *arena;
	struct job *job;
	struct view view;
};

static void reading_done(struct reading *reading)
{
	job_free(reading->job);
	arena_free(reading->arena);
}

static int read_view(const struct json *object, const struct status *status,
		     struct reading *reading, struct err *err)
{
	struct faults faults CLEANUP(faults_done) = {0};

	reading->arena = arena_new();
	if (job_read(object, NULL, JOB_LENIENT, &faults, &reading->job))
		return err_set(err, ERR_IO, "the job cannot be read: %s: %s", faults.list[0].path,
			       faults.list[0].sentence);
	reading->view.object = object;
	reading->view.status = status;
	reading->view.now = loop_now();
	summary_make(reading->job, status, reading->arena, &reading->view.summary);
	return 0;
}

static int describe(const struct json *object, const struct status *status, bool is_wide,
		    struct text *text, struct err *err)
{
	struct reading reading CLEANUP(reading_done) = {.view.is_wide = is_wide};

	if (read_view(object, status, &reading, err))
		return err->code;
	add_view(&reading.view, text);
	return 0;
}

/* A line that changes whenever the job does, for logs and pipes. */
static int describe_shortly(const struct json *object, const struct status *status,
			    struct text *text, struct err *err)
{
	struct reading reading CLEANUP(reading_done) = {0};
	const struct summary *summary = &reading.view.summary;

	if (read_view(object, status, &reading, err))
		return err->code;
	text_addf(text, "%s  running %d/%d  restarts %d", summary->state, summary->running,
		  summary->wanted, summary->restarts);
	if (*summary->message)
		text_addf(text, "  %s", summary->message);
	text_add_char(text, '\n');
	return 0;
}

/* How `status` shows a job, once or at each change. */
struct display {
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
}

/* Shows a text that is not what was shown before; true when nothing more arrives. */
static bool show_text(struct display *display, const char *before, const struct text *text)
{
	struct text whole CLEANUP(text_done) = {0};

	if (text_equals(text_of(text), text_of(&display->last)))
		return false;
	text_addf(&whole, "%s%s", before, text_of(text));
	output_add(&whole);
	text_clear(&display->last);
	text_add(&display->last, text_of(text));
	return !output_flush();
}

static bool show_object(const struct json *object, const struct status *status, void *data)
{
	const struct display *display = data;

	output_add_object(object, display->format);
	return !output_flush() || watch_is_over(object, status, NULL);
}

static bool show_screen(const struct json *object, const struct status *status, void *data)
{
	static const char clear_screen[] = "\033[H\033[2J";
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return describe(object, status, display->format != NULL, &text, &display->err) ||
	       show_text(display, clear_screen, &text) || watch_is_over(object, status, NULL);
}

static bool show_line(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return describe_shortly(object, status, &text, &display->err) ||
	       show_text(display, "", &text) || watch_is_over(object, status, NULL);
}

static bool show_once(const struct json *object, const struct status *status, void *data)
{
	struct display *display = data;
	struct text text CLEANUP(text_done) = {0};

	return describe(object, status, display->format != NULL, &text, &display->err) ||
	       show_text(display, "", &text) || true;
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
	return isatty(STDOUT_FILENO) ? show_screen : show_line;
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
	display.where = job.where;
	display.show = choose_display(display.format, option_flag(options, "watch"));
	if (watch_job(job.client, job.name, MSEC_NEVER, show_change, &display, &end, &err))
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
		    "  muster status -o json digits-x7k2p | jq .status.replicas\n",
	.options = rows_of_status,
	.least_arguments = 1,
	.most_arguments = 1,
	.run = status_run,
};
