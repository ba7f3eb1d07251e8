/* One job, one terminal, one log. */
#include "engine/telling.h"

#include "base/text.h"
#include "engine/record.h"
#include "io/file.h"
#include "io/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_OWN_FAULT 125

void telling_done(struct telling *telling)
{
	console_free(telling->console);
	job_log_close(telling->log);
	arena_free(telling->arena);
	json_free(telling->document);
	free(telling->last_trouble);
}

void telling_say(struct telling *telling, const char *sentence)
{
	job_log_add(telling->log, loop_now(), "Warning", "Supervisor", sentence);
	if (telling->console)
		console_say(telling->console, sentence);
}

void telling_say_stopping(struct telling *telling, const struct job *job, const char *parts)
{
	struct text sentence CLEANUP(text_done) = {0};

	text_addf(&sentence, "stopping job '%s': its %s ", job->name, parts);
	if (job->grace > 0) {
		text_add(&sentence, "have ");
		text_add_duration(&sentence, job->grace);
		if (job_role_of_kind(job, ROLE_PS)) /* they are asked in turns */
			text_add(&sentence, " each");
		text_add(&sentence, " to end; Ctrl-C again ends them at once");
	} else {
		text_add(&sentence, "are ended at once");
	}
	telling_say(telling, text_of(&sentence));
}

void telling_say_trouble(struct telling *telling, const char *sentence)
{
	if (text_equals(telling->last_trouble, sentence))
		return;
	free(telling->last_trouble);
	telling->last_trouble = mem_copy_text(sentence);
	if (sentence)
		telling_say(telling, sentence);
}

void telling_show_startup(const struct telling *telling, const struct startup *startup)
{
	if (telling->console)
		console_on_startup(telling->console, startup, &telling->status);
}

void telling_show_output(const struct telling *telling)
{
	if (telling->console)
		console_on_output(telling->console);
}

static void on_note(const struct job *job, const struct note *note, void *data)
{
	struct telling *telling = data;

	(void) job;
	job_log_add(telling->log, loop_now(), note->level == NOTE_WARNING ? "Warning" : "Normal",
		    note->reason, note->sentence);
	if (telling->console)
		console_on_note(telling->console, note);
}

/* Keeps a copy: at the end the record may be gone already (ttlSecondsAfterFinished: 0). */
static void keep_status(struct telling *telling, const struct job *job, const struct status *status)
{
	struct json *value CLEANUP(json_cleanup) = status_write(status);
	struct arena *arena = arena_new();
	struct status copy;

	if (status_read(value, arena, &copy, NULL) < 0) {
		arena_free(arena);
		return;
	}
	arena_free(telling->arena);
	telling->arena = arena;
	telling->status = copy;
	json_free(telling->document);
	telling->document = json_ref(job->document);
}

static void on_status(const struct job *job, const struct status *status, void *data)
{
	struct telling *telling = data;

	keep_status(telling, job, status);
	if (telling->console)
		console_on_status(telling->console, status);
}

struct driver_listener telling_listener(struct telling *telling)
{
	return (struct driver_listener){
		.on_note = on_note, .on_status = on_status, .data = telling};
}

/* Who asked for the job as data has none: a job that succeeded does not make that good. */
static void fail_to_print(struct telling *telling, int failure)
{
	struct err err;

	err_set_errno(&err, failure, "the job could not be written to standard output");
	telling_say(telling, err.text);
	if (telling->status.exit_code == 0)
		telling->status.exit_code = EXIT_OWN_FAULT;
}

void telling_print(struct telling *telling, const char *uid, msec created, int64_t version)
{
	struct text text CLEANUP(text_done) = {0};

	if (!telling->document)
		return;
	struct json *document CLEANUP(json_cleanup) = json_new_copy(telling->document);

	record_add_metadata(document, uid, created, version);
	json_set(document, "status", status_write(&telling->status));
	json_add_pretty(&text, document);
	int failure = file_write_all(STDOUT_FILENO, text.bytes, text.len, NULL);

	if (failure && failure != EPIPE)
		fail_to_print(telling, failure);
}
