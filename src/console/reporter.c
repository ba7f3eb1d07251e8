/* One job, one terminal, one log. */
#include "console/reporter.h"

#include "base/exit_code.h"
#include "base/line_text.h"
#include "io/file.h"
#include "io/log.h"
#include "io/own_process.h"
#include "io/program_call.h"
#include "jobs/record.h"
#include "reconcile/reconcile.h"
#include "reconcile/summary.h"

/* For the command of --notify. */
#define NOTIFY_TIME (60 * MSEC_PER_SECOND)

void reporter_add_to_log(const struct reporter *reporter, msec now, const char *level,
			 const char *reason, const char *sentence)
{
	struct text line CLEANUP(text_done) = {0};

	if (reporter->log_fd <= 0)
		return;
	text_add_line_time(&line, now, 0);
	text_addf(&line, " %s %s: ", level, reason);
	line_text_add_sentence(&line, sentence, strlen(sentence));
	text_add_char(&line, '\n');
	file_write_all(reporter->log_fd, line.bytes, line.len, NULL);
}

static void on_log(enum log_level level, const char *sentence, void *data)
{
	const struct reporter *reporter = data;
	char *line CLEANUP(mem_free_text) = mem_format("%s: %s", log_level_words[level], sentence);

	reporter_add_to_log(reporter, loop_now(), log_level_words[level], "Supervisor", sentence);
	if (reporter->console)
		console_print(reporter->console, line);
}

void reporter_begin(struct reporter *reporter, const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/muster.log", job_folder);

	reporter->log_fd = file_open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
	reporter->status.exit_code = EXIT_INTERNAL;
	log_set_sink(on_log, reporter);
}

void reporter_done(struct reporter *reporter)
{
	log_set_sink(NULL, NULL);
	console_free(reporter->console);
	output_copies_free(reporter->copies);
	if (reporter->log_fd > 0)
		file_close(&reporter->log_fd);
	arena_free(reporter->arena);
	json_free(reporter->document);
	free(reporter->last_trouble);
}

void reporter_print_message(struct reporter *reporter, const char *sentence)
{
	reporter_add_to_log(reporter, loop_now(), "Warning", "Supervisor", sentence);
	if (reporter->console)
		console_print(reporter->console, sentence);
}

void reporter_sayf(struct reporter *reporter, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *sentence CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	reporter_print_message(reporter, sentence);
}

static void on_copy_trouble(const char *sentence, void *data)
{
	reporter_print_message(data, sentence);
}

void reporter_create_copies(struct reporter *reporter, const char *pattern,
			    const struct streams *streams, const struct job *job)
{
	const struct output_copies_settings settings = {
		.pattern = pattern,
		.job = job,
		.streams = streams,
		.on_trouble = on_copy_trouble,
		.data = reporter,
	};

	if (pattern)
		reporter->copies = output_copies_new(&settings);
}

void reporter_print_stopping(struct reporter *reporter, const struct job *job, const char *parts)
{
	struct text sentence CLEANUP(text_done) = {0};

	text_addf(&sentence, "stopping job '%s': its %s ", job->name, parts);
	if (job->grace > 0) {
		text_add(&sentence, "have ");
		text_add_duration(&sentence, job->grace);
		text_add(&sentence, " to exit; press Ctrl-C again to kill them immediately");
	} else {
		text_add(&sentence, "are being killed");
	}
	reporter_print_message(reporter, text_of(&sentence));
}

void reporter_print_error(struct reporter *reporter, const char *sentence)
{
	if (text_keep(&reporter->last_trouble, sentence) && sentence)
		reporter_print_message(reporter, sentence);
}

void reporter_show_startup(const struct reporter *reporter, const struct startup *startup)
{
	if (reporter->console)
		console_on_startup(reporter->console, startup, &reporter->status);
}

static void on_note(const struct job *job, const struct note *note, void *data)
{
	struct reporter *reporter = data;

	(void) job;
	reporter_add_to_log(reporter, loop_now(),
			    note->level == NOTE_WARNING ? "Warning" : "Normal", note->reason,
			    note->sentence);
	if (reporter->console)
		console_on_note(reporter->console, note);
}

/* Keeps a copy: the record may be deleted before the end (ttlSecondsAfterFinished: 0). */
static void retain_reported_status(struct reporter *reporter, const struct job *job,
				   const struct status *status)
{
	struct arena *arena = arena_new();

	reporter->status = status_copy(status, arena);
	arena_free(reporter->arena);
	reporter->arena = arena;
	json_free(reporter->document);
	reporter->document = json_ref(job->document);
}

static void on_status(const struct job *job, const struct status *status, void *data)
{
	struct reporter *reporter = data;

	retain_reported_status(reporter, job, status);
	if (reporter->console)
		console_on_status(reporter->console, status);
}

struct reconciler_listener reporter_listener(struct reporter *reporter)
{
	return (struct reconciler_listener){
		.on_note = on_note, .on_status = on_status, .data = reporter};
}

void reporter_end(struct reporter *reporter, const struct job *job, const char *reason,
		  const char *why)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct plan plan;

	reconcile_lost(job, &reporter->status, reason, why, loop_now(), arena, &plan);
	retain_reported_status(reporter, job, &plan.status);
}

void reporter_print(struct reporter *reporter, const char *uid, msec created, int64_t version)
{
	struct text text CLEANUP(text_done) = {0};

	if (!reporter->document)
		return;
	struct json *document CLEANUP(json_cleanup) = json_new_copy(reporter->document);

	record_add_metadata(document, uid, created, version);
	json_set(document, "status", status_write(&reporter->status));
	json_add_pretty(&text, document);
	int failure = file_write_all(STDOUT_FILENO, text.bytes, text.len, NULL);

	struct err err;

	if (!failure || failure == EPIPE)
		return;
	/* The caller requested the job as data and did not get it: that is an error even if the job
	 * succeeded. */
	err_set_errno(&err, failure, "the job could not be written to standard output");
	reporter_print_message(reporter, err.text);
	if (reporter->status.exit_code == 0)
		reporter->status.exit_code = EXIT_INTERNAL;
}

/* The end. */

void reporter_notify(struct reporter *reporter, const struct job *job, const char *command)
{
	static const char script[] = "exec >&2; eval \"$0\"";
	const char *const arguments[] = {"sh", "-c", script, command, NULL};
	const struct status *status = &reporter->status;
	const struct failure *failure = status->failure;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct text output CLEANUP(text_done) = {0};
	struct text duration CLEANUP(text_done) = {0};
	struct summary summary;
	struct err err;

	if (status->start_time != MSEC_UNSET && status->completion_time != MSEC_UNSET)
		text_add_duration(&duration, status->completion_time - status->start_time);
	summary_create(job, status, arena, &summary);
	const char *const changes[] = {
		arena_format(arena, "MUSTER_JOB_NAME=%s", job->name),
		arena_format(arena, "MUSTER_STATE=%s", summary.state),
		arena_format(arena, "MUSTER_EXIT_CODE=%d", status->exit_code),
		arena_format(arena, "MUSTER_DURATION=%s", text_of(&duration)),
		arena_format(arena, "MUSTER_MESSAGE=%s", summary.message),
		arena_format(arena, "MUSTER_ERROR=%s",
			     failure && failure->exception ? failure->exception : ""),
		NULL,
	};
	char **environment CLEANUP(mem_free_any) = own_environment_with(changes);
	const struct program_question question = {
		.program = "sh",
		.arguments = (char *const *) arguments,
		.environment = environment,
		.limit = 1,
		.time_limit = NOTIFY_TIME,
	};

	if (program_call_wait(&question, &output, &err) < 0)
		reporter_sayf(reporter, "--notify: %s", err.text);
}
