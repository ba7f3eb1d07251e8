#include "console/console.h"

#include "base/line_text.h"
#include "console/line_format.h"
#include "console/log_view.h"
#include "console/screen.h"
#include "io/own_process.h"
#include "io/sink.h"
#include "io/terminal.h"
#include "logs/reader.h"
#include "reconcile/output_idle.h"
#include "reconcile/report.h"
#include "status/exception.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* How soon after new output to check whether a silence has ended. */
#define OUTPUT_IDLE_CHECK MSEC_PER_SECOND
/* Silent replicas whose logs are searched for the cause. */
#define MOST_SEARCHED 64

struct console {
	struct console_settings settings;
	const struct job *job;
	char *job_words;
	struct screen *lines; /* for the replicas' lines */
	struct screen *chatter; /* for muster's own, and for a separate stderr of replicas; may be
				   the same screen */
	struct line_format format;
	struct line_format error_format; /* of a separate stderr */
	struct log_view *view; /* NULL: no lines are shown */

	struct arena *arena; /* of the names in `silences` */
	struct output_idle *silences; /* one for each replica of the status */
	size_t n_silences;
	struct loop_watch *output_idle_timer;
	msec output_idle_is_checked; /* when the timer fires; MSEC_NEVER: it does not */

	bool is_finished; /* the job has an end state: the report replaces its notes */
	struct startup startup; /* of its Pods; empty: it has no Pods */
	bool has_started; /* all of them were running once */
	bool has_told_loss; /* about lines that cannot be written to the screen */
	/* The row shows the first of these texts that is not empty. */
	struct text progress;
	struct text beginning; /* all are running, and none has printed anything */
	struct text output_idle;
	struct text report;
	struct text short_report; /* without the last lines of `failed` */
	struct log_name failed;
	size_t n_last_lines; /* 0: it has none */
	bool is_reported;
	loop_fn on_drained;
	void *data;
};

static void on_idle_output_timer(void *data);

/* Rows at the bottom are on the screen of the lines, so that two writers never draw on one
 * terminal. */
static struct screen *row_screen(const struct console *console)
{
	return console->view ? console->lines : console->chatter;
}

static void finish_if_drained(struct console *console)
{
	bool is_drained = !screen_is_waiting(console->chatter) || screen_is_gone(console->chatter);

	if (console->is_reported && is_drained && console->on_drained)
		loop_defer(console->settings.loop, TAKE(console->on_drained), console->data);
}

/* Output that stops would look like a hung job: a full disk, or a reader that left early (`muster
 * run … | head -3`). */
static void report_console_loss(struct console *console)
{
	int failure = console->view ? screen_failure(console->lines) : 0;

	if (!failure || console->has_told_loss || (failure == EPIPE && console->is_finished))
		return;
	struct err err;

	console->has_told_loss = true;
	if (failure == EPIPE)
		err_set(&err, ERR_IO,
			"the output has no reader any more, and the job continues; to follow it: "
			"muster logs -f %s; to stop it: muster stop %s",
			console->job_words, console->job_words);
	else
		err_set_errno(&err, failure, "cannot print the output of the job any more");
	console_print(console, err.text);
}

static void on_console_room(void *data)
{
	struct console *console = data;

	report_console_loss(console);
	if (console->view)
		log_view_on_room(console->view);
	finish_if_drained(console);
}

static void set_line_format(const struct console *console, int fd, struct line_format *format)
{
	const struct console_style *style = &console->settings.style;

	*format = (struct line_format){
		.has_name = !style->hides_names,
		.has_time = style->shows_times,
		.is_local = style->is_local,
		.has_color = terminal_wants_color(fd, style->color),
		.is_safe = isatty(fd),
		.streams = &style->streams,
	};
	line_format_fit_job(format, console->job);
}

static void make_screens(struct console *console, const struct console_settings *settings)
{
	console->lines =
		screen_new(console->settings.loop, settings->lines_fd, on_console_room, console);
	console->chatter = sink_is_same(settings->lines_fd, settings->chatter_fd)
				   ? console->lines
				   : screen_new(console->settings.loop, settings->chatter_fd,
						on_console_room, console);
	set_line_format(console, settings->lines_fd, &console->format);
	set_line_format(console, settings->chatter_fd, &console->error_format);
}

static int make_view(struct console *console, const struct console_settings *console_settings,
		     struct err *err)
{
	struct log_selection selection = LOG_SELECTION_ALL;
	struct log_reader *reader;

	if (console->settings.style.streams.rules || console->settings.style.hides_names)
		selection.line_limit = LIMIT_WHOLE_LINE;
	int rc = log_reader_new(console_settings->log_folder, &selection, &reader, err);

	if (rc)
		return rc;
	if (console_settings->unsaved_output)
		log_reader_show_unsaved_output(reader, console_settings->unsaved_output);
	const struct log_view_settings settings = {
		.loop = console->settings.loop,
		.take_reader = reader,
		.outlet = {console->lines, &console->format},
		.error_outlet = {console->chatter, &console->error_format},
		.only = console->settings.style.only,
		.n_only = console->settings.style.n_only,
		.streams = &console->settings.style.streams,
		.bars_every = console->settings.bars_every,
	};

	console->view = log_view_new(&settings);
	return 0;
}

int console_new(const struct console_settings *settings, const struct job *job,
		struct console **ret_console, struct err *err)
{
	struct console *console = mem_new(sizeof(*console));

	console->settings = *settings;
	console->job = job;
	console->job_words = mem_copy_text(settings->job_words ? settings->job_words : job->name);
	console->arena = arena_new();
	console->output_idle_timer =
		loop_new_timer(console->settings.loop, on_idle_output_timer, console);
	console->output_idle_is_checked = MSEC_NEVER;
	make_screens(console, settings);
	int rc = settings->style.is_quiet ? 0 : make_view(console, settings, err);

	if (rc) {
		console_free(console);
		return rc;
	}
	*ret_console = console;
	return 0;
}

void console_free(struct console *console)
{
	if (!console)
		return;
	log_view_free(console->view);
	if (console->chatter != console->lines)
		screen_free(console->chatter);
	screen_free(console->lines);
	line_format_done(&console->format);
	line_format_done(&console->error_format);
	loop_watch_free(console->output_idle_timer);
	mem_free_any(&console->silences);
	arena_free(console->arena);
	text_done(&console->progress);
	text_done(&console->beginning);
	text_done(&console->output_idle);
	text_done(&console->report);
	text_done(&console->short_report);
	free(console->job_words);
	mem_free_any(&console);
}

void console_print(struct console *console, const char *sentence)
{
	struct text *text = screen_begin(console->chatter);

	text_add(text, "muster: ");
	line_text_add_sentence(text, sentence, strlen(sentence));
	text_add_char(text, '\n');
	screen_end(console->chatter);
}

/* Warnings, and results of requests. A restart of the whole job is reported by the note that names
 * the replica that failed. */
static bool is_worth_saying(const struct note *note)
{
	if (note->level == NOTE_WARNING)
		return !text_equals(note->reason, "TFJobRestarting");
	return text_equals(note->reason, "TFJobSuspended") ||
	       text_equals(note->reason, "TFJobResumed") ||
	       text_equals(note->reason, "TFJobScaled") ||
	       text_equals(note->reason, "TFJobQueued") ||
	       text_equals(note->reason, "WorldChanged");
}

void console_on_note(struct console *console, const struct note *note)
{
	if (console->is_finished || !is_worth_saying(note))
		return;
	if (console->view) /* not between two lines of what it printed before */
		log_view_show(console->view);
	console_print(console, note->sentence);
}

static void arm_silence(struct console *console, msec at)
{
	console->output_idle_is_checked = at;
	loop_timer_arm_wall(console->output_idle_timer, at);
}

/* The entry of a replica. Both lists have the indexes of a role in order, so the next entry is
 * usually the one after the last found. */
static struct output_idle *find_silence(struct console *console, const struct log_name *name,
					size_t *hint)
{
	for (size_t i = 0; i < console->n_silences; i++) {
		size_t place = (*hint + i) % console->n_silences;
		struct output_idle *output_idle = &console->silences[place];

		if (output_idle->index == name->index &&
		    text_equals(output_idle->role, name->role)) {
			*hint = place + 1;
			return output_idle;
		}
	}
	return NULL;
}

static void note_output(struct console *console)
{
	struct log_replica replica;
	size_t hint = 0;

	for (size_t i = 0; log_reader_replica(log_view_reader(console->view), i, &replica); i++) {
		struct output_idle *output_idle = find_silence(console, &replica.name, &hint);

		if (output_idle)
			output_idle_record_output(output_idle, replica.last_time);
	}
}

static void show_row(struct console *console)
{
	struct screen *screen = row_screen(console);
	struct text row CLEANUP(text_done) = {0};
	/* Muster's row: the startup progress, else the silent replica. */
	const struct text *sentence = console->progress.len > 0    ? &console->progress
				      : console->beginning.len > 0 ? &console->beginning
								   : &console->output_idle;

	if (!screen_is_live(screen))
		return;
	if (sentence->len > 0)
		text_addf(&row, "muster: %s", text_of(sentence));
	char *advice = row.len ? strstr(row.bytes, "; ") : NULL;
	int columns = terminal_size(console->settings.chatter_fd).columns;

	/* Advice is not cut off: it gets its own row. */
	if (advice && line_width(row.bytes, row.len) > (size_t) columns)
		memcpy(advice, "\n ", 2);
	screen_set_row(screen, text_of(&row));
	if (screen_is_changed(screen)) {
		screen_begin(screen);
		screen_end(screen);
	}
}

/* Adds an explanation, or a command that shows more. */
static void add_to_silence(const struct console *console, struct text *sentence)
{
	size_t len = sentence->len;

	output_idle_add_cause(console->silences, console->n_silences, console->job, sentence);
	if (len > 0 && sentence->len == len)
		text_addf(sentence, "; to see the stacks: muster stacks %s", console->job_words);
}

/* A failed script may not exit: it waits for its peers (JAX), or for a thread. */
static void print_silent_exception(struct console *console, const struct log_name *name)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text sentence CLEANUP(text_done) = {0};
	struct printed printed;

	if (log_last_lines(console->settings.log_folder, name->role, name->index, name->attempt,
			   LIMIT_SEARCHED_LINES, arena, &printed, NULL) < 0)
		return;
	const char *exception = exception_find(&printed, arena);

	if (!exception)
		return;
	text_addf(&sentence, "%s-%d still runs after an error: %s", name->role, name->index,
		  exception);
	console_print(console, text_of(&sentence));
}

static void print_silent_exceptions(struct console *console)
{
	struct log_replica replica;
	size_t hint = 0, n_searched = 0;

	for (size_t i = 0; n_searched < MOST_SEARCHED &&
			   log_reader_replica(log_view_reader(console->view), i, &replica);
	     i++) {
		const struct output_idle *output_idle = find_silence(console, &replica.name, &hint);

		if (!output_idle || !output_idle->is_news)
			continue;
		print_silent_exception(console, &replica.name);
		n_searched++;
	}
}

/* On a terminal the row reports a silence while it lasts; elsewhere one line does. */
static void on_idle_output_timer(void *data)
{
	struct console *console = data;
	struct text sentence CLEANUP(text_done) = {0};

	if (log_view_is_gone(console->view)) {
		/* Output without a reader is not polled, so its times are unknown. */
		text_clear(&console->beginning);
		text_clear(&console->output_idle);
		show_row(console);
		return;
	}
	note_output(console);
	bool is_new =
		output_idle_report(console->silences, console->n_silences, loop_now(), &sentence);

	if (is_new && !screen_is_live(row_screen(console))) {
		add_to_silence(console, &sentence);
		console_print(console, text_of(&sentence));
	}
	print_silent_exceptions(console);
	text_clear(&console->output_idle);
	output_idle_add_lasting(console->silences, console->n_silences, &console->output_idle);
	add_to_silence(console, &console->output_idle);
	text_clear(&console->beginning);
	msec again = screen_is_live(row_screen(console))
			     ? output_idle_report_start(console->silences, console->n_silences,
							loop_now(), &console->beginning)
			     : MSEC_NEVER;

	show_row(console);
	arm_silence(console,
		    msec_min(again, output_idle_wake_at(console->silences, console->n_silences)));
}

void console_on_output(struct console *console)
{
	if (!console->view)
		return;
	log_view_on_news(console->view);
	if (console->beginning.len > 0) {
		text_clear(&console->beginning);
		show_row(console);
	}
	msec soon = console->output_idle.len > 0 ? loop_now() + OUTPUT_IDLE_CHECK : MSEC_NEVER;

	if (soon < console->output_idle_is_checked)
		arm_silence(console, soon);
}

static void fit_silences(struct console *console, size_t count)
{
	if (count != console->n_silences)
		console->silences = mem_resize(console->silences, count ? count : 1,
					       sizeof(*console->silences));
	for (size_t i = console->n_silences; i < count; i++)
		console->silences[i] = (struct output_idle){0};
	console->n_silences = count;
}

static void watch_replicas(struct console *console, const struct status *status)
{
	fit_silences(console, status->n_replicas);
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];
		struct output_idle *output_idle = &console->silences[i];

		if (output_idle->index != replica->index ||
		    !text_equals(output_idle->role, replica->role))
			*output_idle = (struct output_idle){
				.role = arena_copy_text(console->arena, replica->role),
				.index = replica->index,
			};
		output_idle->is_stopped = replica->state == REPLICA_STOPPED;
		output_idle->is_running = replica->state == REPLICA_RUNNING;
		output_idle->is_watched = output_idle->is_running &&
					  output_idle_is_meaningful(console->job, replica->role);
		output_idle_record_start(output_idle, replica->start_time);
	}
}

static void show_progress(struct console *console, const struct status *status)
{
	text_clear(&console->progress);
	progress_describe(status, console->startup.n_pods ? &console->startup : NULL, loop_now(),
			  &console->progress);
	show_row(console);
}

void console_on_status(struct console *console, const struct status *status)
{
	console->is_finished = status_is_finished(status);
	show_progress(console, status);
	if (!console->view)
		return;
	line_format_set_ranks(&console->format, console->job, status);
	line_format_set_ranks(&console->error_format, console->job, status);
	watch_replicas(console, status);
	arm_silence(console, loop_now());
	log_view_on_news(console->view);
}

void console_on_startup(struct console *console, const struct startup *startup,
			const struct status *status)
{
	bool starts =
		!console->has_started && startup_is_over(startup, job_replica_count(console->job));
	char *all CLEANUP(mem_free_text) = mem_format("all %d Pods are running", startup->n_pods);

	console->startup = *startup;
	if (console->is_finished)
		return;
	console->has_started |= starts;
	if (starts && !screen_is_live(row_screen(console)))
		console_print(console, startup->n_pods == 1 ? "the Pod is running" : all);
	show_progress(console, status);
}

/* Whether they are on the same terminal, followed only by our notes. */
static bool has_shown_last_lines(const struct console *console)
{
	const struct log_name *failed = &console->failed;

	return console->n_last_lines > 0 && console->view && console->lines == console->chatter &&
	       screen_is_live(console->lines) &&
	       log_view_count_last(console->view, failed->role, failed->index, failed->attempt) >=
		       console->n_last_lines;
}

static void on_lines_shown(void *data)
{
	struct console *console = data;
	const struct text *report =
		has_shown_last_lines(console) ? &console->short_report : &console->report;

	report_console_loss(console);
	text_add_bytes(screen_begin(console->chatter), text_of(report), report->len);
	screen_end(console->chatter);
	console->is_reported = true;
	finish_if_drained(console);
}

static void make_reports(struct console *console, const struct status *status)
{
	const struct failure *failure = status->failure;
	/* srun writes the output of all nodes to one file, unless a pattern separates them. */
	bool is_elsewhere_in_step = failure && failure->machine && getenv("SLURM_STEP_ID");
	struct failure_style style = {
		.offset =
			time_zone_offset_on(console->settings.chatter_fd, status->completion_time),
		.skips_last_lines = is_elsewhere_in_step,
		/* Here are its logs, and its directory. */
		.is_resumable = console->settings.unsaved_output && !console->job->elastic_id,
	};

	report_outcome(console->job, status, console->job_words, &style, &console->report);
	style.skips_last_lines = true;
	report_outcome(console->job, status, console->job_words, &style, &console->short_report);
	if (!failure || !failure->role)
		return;
	snprintf(console->failed.role, sizeof(console->failed.role), "%s", failure->role);
	console->failed.index = failure->index;
	console->failed.attempt = failure->attempt;
	console->n_last_lines = failure->n_last_lines;
}

void console_finish(struct console *console, const struct status *status, loop_fn on_drained,
		    void *data)
{
	console->on_drained = on_drained;
	console->data = data;
	make_reports(console, status);
	arm_silence(console, MSEC_NEVER);
	text_clear(&console->progress);
	text_clear(&console->beginning);
	text_clear(&console->output_idle);
	show_row(console);
	if (console->view)
		log_view_finish(console->view, on_lines_shown, console);
	else
		on_lines_shown(console);
}
