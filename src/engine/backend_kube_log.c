/* A table of Pods by name. Of each, streams are opened one after the other, as log_follow says. */
#include "engine/backend_kube_log.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/log_keeper.h"
#include "engine/log_writer.h"
#include "io/descriptor_limit.h"
#include "io/file.h"
#include "io/heap.h"
#include "kube/jitter.h"
#include "kube/log_lines.h"
#include "kube/mirror_table.h"
#include "kube/resources.h"

#include <inttypes.h>
#include <stdlib.h>

#define SILENCE (600 * MSEC_PER_SECOND)
/* A container has ended, and its stream neither ends nor says anything: it is taken up again. */
#define LINGERING (10 * MSEC_PER_SECOND)
/* Lines that came within so short a time are written at once; the index is no finer. */
#define SPACING ((msec) 5)
/* Streams that are being opened at a time: a large job begins all at once, and each connection
 * costs the server a handshake, and us its memory. One that says nothing counts as open after a
 * while. */
#define OPENING_AT_ONCE 32
#define OPENING_TIME MSEC_PER_SECOND

struct pod_log {
	struct pod_logs *logs;
	char *uid, *pod_name, *container;
	struct kube_call *call; /* NULL: between two streams, or at the end */
	struct loop_watch *timer; /* until the next stream; NULL: it has come to its end */
	struct log_writer *writer; /* NULL: it cannot be kept, or has ended */
	struct log_follow follow;
	struct log_lines lines;
	bool is_opening;
	struct pod_log *next_waiting; /* for its turn to open a stream */
	bool is_waiting;
	msec heard_at;
	struct err err; /* why the last stream was lost */
};

struct pod_logs {
	struct pod_logs_settings settings;
	struct mirror_table table; /* of struct pod_log, by Pod */
	size_t n_open, n_ended_open, n_opening;
	size_t n_opened; /* since memory was given back */
	struct pod_log *first_waiting, *last_waiting;
	int keeper_fd; /* says that we bring the logs; -1: that could not be said */
	bool is_refusal_told;
	struct text batch; /* text that is not written yet … */
	msec batch_time; /* … of this time; MSEC_UNSET: none */
};

static void begin_stream(void *data);

/* A log has a connection and, with the console's, four open files: a large job needs more than the
 * usual 1024. Where they cannot be had, what cannot be opened says so. */
static void raise_descriptor_limit(void)
{
	rlim_t before;
	struct err err;

	if (descriptor_limit_raise(0, &before, &err) < 0)
		return;
}

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings)
{
	struct pod_logs *logs = mem_new(sizeof(*logs));

	raise_descriptor_limit();
	logs->settings = *settings;
	if (!logs->settings.silence)
		logs->settings.silence = SILENCE;
	logs->keeper_fd = log_keeper_begin(settings->folder);
	return logs;
}

static bool is_open(const struct pod_log *log)
{
	return log->timer != NULL;
}

/* Turns. */

static void wait_for_turn(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;

	if (log->is_waiting)
		return;
	log->is_waiting = true;
	log->next_waiting = NULL;
	*(logs->last_waiting ? &logs->last_waiting->next_waiting : &logs->first_waiting) = log;
	logs->last_waiting = log;
}

static void leave_turns(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;
	struct pod_log **link = &logs->first_waiting, *before = NULL;

	if (!log->is_waiting)
		return;
	for (; *link != log; link = &(*link)->next_waiting)
		before = *link;
	*link = log->next_waiting;
	if (logs->last_waiting == log)
		logs->last_waiting = before;
	log->is_waiting = false;
}

static void give_back_after_burst(struct pod_logs *logs)
{
	if (logs->n_opening > 0 || logs->n_opened < OPENING_AT_ONCE)
		return;
	logs->n_opened = 0;
	heap_give_back();
}

/* The stream is open, or is none any more: it is the next one's turn. */
static void end_opening(struct pod_log *log)
{
	struct pod_log *next = log->logs->first_waiting;

	if (!log->is_opening)
		return;
	log->is_opening = false;
	log->logs->n_opening--;
	if (!next) {
		give_back_after_burst(log->logs);
		return;
	}
	leave_turns(next);
	loop_timer_arm(next->timer, loop_now());
}

static void close_log(struct pod_log *log)
{
	if (!is_open(log))
		return;
	leave_turns(log);
	end_opening(log);
	kube_call_cancel(TAKE(log->call));
	loop_watch_free(TAKE(log->timer));
	log_writer_close(TAKE(log->writer));
	log->logs->n_open--;
	log->logs->n_ended_open -= log->follow.container.has_ended;
}

static void free_log(struct pod_log *log)
{
	close_log(log);
	free(log->uid);
	free(log->pod_name);
	free(log->container);
	free(log);
}

void pod_logs_free(struct pod_logs *logs)
{
	struct mirror_entry *entry;
	size_t place = 0;

	if (!logs)
		return;
	while ((entry = mirror_table_next(&logs->table, &place)))
		free_log(entry->kept);
	mirror_table_done(&logs->table);
	file_close(&logs->keeper_fd);
	text_done(&logs->batch);
	free(logs);
}

static struct pod_log *find(const struct pod_logs *logs, const char *pod_name)
{
	const struct mirror_entry *entry = mirror_table_find(&logs->table, pod_name);

	return entry ? entry->kept : NULL;
}

/* What a stream brings. */

static void write_batch(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;
	struct err err = {0};

	if (logs->batch.len > 0 && log->writer &&
	    log_writer_add(log->writer, logs->batch.bytes, logs->batch.len, logs->batch_time,
			   &err) < 0)
		logs->settings.on_trouble(err.text, logs->settings.data);
	text_clear(&logs->batch);
}

static void take_text(const char *bytes, size_t len, msec time, void *data)
{
	struct pod_log *log = data;
	struct pod_logs *logs = log->logs;

	if (time == MSEC_UNSET)
		time = logs->batch.len > 0 ? logs->batch_time : loop_now();
	if (logs->batch.len > 0 && time >= logs->batch_time + SPACING)
		write_batch(log);
	if (logs->batch.len == 0)
		logs->batch_time = time;
	text_add_bytes(&logs->batch, bytes, len);
	log->follow.has_news = true;
}

static void tell_gap(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	struct text sentence CLEANUP(text_done) = {0};
	msec from, to;

	if (!log_lines_take_gap(&log->lines, &from, &to))
		return;
	text_addf(&sentence, "the log of Pod '%s' broke off, and was rotated meanwhile: lines ",
		  log->pod_name);
	if (from != MSEC_UNSET) {
		text_add(&sentence, "between ");
		text_add_time(&sentence, from);
		text_add(&sentence, " and ");
	} else {
		text_add(&sentence, "before ");
	}
	text_add_time(&sentence, to);
	text_add(&sentence, " may be missing");
	settings->on_trouble(text_of(&sentence), settings->data);
}

static void on_bytes(const char *bytes, size_t len, void *data)
{
	struct pod_log *log = data;
	const struct pod_logs_settings *settings = &log->logs->settings;

	log->heard_at = loop_monotonic_now();
	end_opening(log);
	log_lines_take(&log->lines, bytes, len, take_text, log);
	write_batch(log);
	tell_gap(log);
	settings->on_output(settings->data);
}

/* Its end. */

static enum log_end end_of(const struct pod_log *log, const struct kube_status *status,
			   const struct err *err)
{
	if (!err)
		return LOG_END_PROPER;
	if (status->code == 404)
		return LOG_END_ABSENT;
	if (status->code == 400 && !log->follow.began_after_end)
		return LOG_END_NOT_YET;
	if (status->code >= 400 && status->code < 500 && status->code != 429)
		return LOG_END_REFUSED;
	return status->code >= 500 ? LOG_END_FAILED : LOG_END_LOST;
}

static void tell_refusal(struct pod_logs *logs, const struct err *err)
{
	if (!logs->is_refusal_told)
		logs->settings.on_trouble(err->text, logs->settings.data);
	logs->is_refusal_told = true;
}

static void tell_loss(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("the log of Pod '%s' broke off, and lines of it may be missing%s%s",
			   log->pod_name, log->err.code ? ": " : "", log->err.text);

	settings->on_trouble(sentence, settings->data);
}

/* The log has come to its end. */
static void finish(struct pod_log *log, bool is_whole)
{
	const struct pod_logs_settings *settings = &log->logs->settings;

	log_lines_end(&log->lines, take_text, log);
	write_batch(log);
	close_log(log);
	if (!is_whole)
		tell_loss(log);
	settings->on_output(settings->data);
	settings->on_complete(settings->data);
}

static void end_stream(struct pod_log *log, enum log_end end)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	struct log_next next = log_follow_ended(
		&log->follow, end, log_lines_is_catching_up(&log->lines), kube_jitter());

	if (settings->ends_at_once && (end == LOG_END_PROPER || end == LOG_END_NOT_YET))
		next.step = LOG_STEP_DONE;
	if (next.step == LOG_STEP_STREAM)
		loop_timer_arm(log->timer, loop_now() + next.wait);
	else
		finish(log, next.step == LOG_STEP_DONE);
}

static void on_end(struct json *object, const struct kube_status *status, const struct err *err,
		   void *data)
{
	struct pod_log *log = data;
	enum log_end end = end_of(log, status, err);

	(void) object;
	log->call = NULL;
	end_opening(log);
	log->err = err ? *err : (struct err){0};
	if (end == LOG_END_REFUSED && !log->follow.reads_previous)
		tell_refusal(log->logs, err);
	end_stream(log, end);
}

/* The next stream. */

/* Of a stream that begins with the first line that is wanted. */
static void add_first_bounds(const struct pod_logs_settings *settings, struct text *since,
			     struct text *tail)
{
	if (settings->since != MSEC_UNSET)
		text_add_time(since, settings->since);
	if (settings->tail >= 0)
		text_addf(tail, "%" PRId64, settings->tail);
}

static struct kube_call *open_stream(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	struct kube_parameter parameters[7] = {{"container", log->container},
					       {"timestamps", "true"}};
	struct text since CLEANUP(text_done) = {0}, tail CLEANUP(text_done) = {0};
	size_t n = 2;

	if (log->follow.reads_previous)
		parameters[n++] = (struct kube_parameter){"previous", "true"};
	else if (!settings->ends_at_once)
		parameters[n++] = (struct kube_parameter){"follow", "true"};
	if (!log_lines_add_since(&log->lines, &since))
		add_first_bounds(settings, &since, &tail);
	if (since.len > 0)
		parameters[n++] = (struct kube_parameter){"sinceTime", text_of(&since)};
	if (tail.len > 0)
		parameters[n++] = (struct kube_parameter){"tailLines", text_of(&tail)};
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_pods,
		.namespace_name = settings->namespace_name,
		.name = log->pod_name,
		.subresource = "log",
		.parameters = parameters,
	};

	return kube_stream_new(settings->api, &request, settings->silence, on_bytes, on_end, log);
}

/* The container has ended, and its stream has not: for as long as it says something, that is fine.
 */
static void check_lingering(struct pod_log *log)
{
	msec left = log->heard_at + LINGERING - loop_monotonic_now();

	if (!log->follow.container.has_ended)
		return;
	if (left > 0) {
		loop_timer_arm(log->timer, loop_now() + left);
		return;
	}
	kube_call_cancel(TAKE(log->call));
	end_stream(log, LOG_END_LOST);
}

static void begin_stream(void *data)
{
	struct pod_log *log = data;

	if (log->call) {
		end_opening(log);
		check_lingering(log);
		return;
	}
	if (log->logs->n_opening >= OPENING_AT_ONCE) {
		wait_for_turn(log);
		return;
	}
	log_lines_begin(&log->lines, log_follow_begin(&log->follow));
	log->heard_at = loop_monotonic_now();
	log->call = open_stream(log);
	log->is_opening = true;
	log->logs->n_opening++;
	log->logs->n_opened++;
	loop_timer_arm(log->timer, loop_now() + OPENING_TIME);
}

/* Which logs there are. */

static struct pod_log *log_new(struct pod_logs *logs, const struct pod_log_name *name)
{
	struct pod_log *log = mem_new(sizeof(*log));
	struct err err = {0};

	log->logs = logs;
	log->uid = mem_copy_text(name->uid);
	log->pod_name = mem_copy_text(name->pod_name);
	log->container = mem_copy_text(name->container);
	log->timer = loop_new_timer(logs->settings.loop, begin_stream, log);
	logs->n_open++;
	if (log_writer_open(logs->settings.folder, name->role, name->index, name->attempt,
			    LIMIT_LOG_FILE, &log->writer, &err) < 0)
		logs->settings.on_trouble(err.text, logs->settings.data);
	return log;
}

/* What is new of the container may end a wait, and begins one for a stream that does not end. */
static void take_container(struct pod_log *log, const struct log_container *container)
{
	struct log_container before = log->follow.container;
	bool is_new = !log->follow.has_begun || container->has_ended != before.has_ended ||
		      container->n_restarts != before.n_restarts;

	if (!is_open(log) || !(is_new || container->is_gone))
		return;
	log->logs->n_ended_open += container->has_ended;
	log->logs->n_ended_open -= before.has_ended;
	log->follow.container = *container;
	if (is_new)
		loop_timer_arm(log->timer, loop_now() + (log->call ? LINGERING : 0));
}

void pod_logs_follow(struct pod_logs *logs, const struct pod_log_name *name,
		     const struct log_container *container)
{
	struct mirror_entry *entry = mirror_table_put(&logs->table, name->pod_name);
	struct pod_log *log = entry->kept;

	/* What another muster brought before us comes again, as a whole. */
	if (!log)
		log_writer_remove(logs->settings.folder, name->role, name->index, name->attempt);
	if (log && !text_equals(log->uid, name->uid)) {
		free_log(log);
		log = NULL;
	}
	entry->kept = log ? log : log_new(logs, name);
	/* Where only what is there now is wanted, it ends with that. */
	take_container(entry->kept,
		       &(struct log_container){
			       .has_ended = container->has_ended || logs->settings.ends_at_once,
			       .n_restarts = container->n_restarts,
		       });
}

void pod_logs_gone(struct pod_logs *logs, const char *pod_name)
{
	struct pod_log *log = find(logs, pod_name);

	if (!log)
		return;
	struct log_container container = log->follow.container;

	container.has_ended = container.is_gone = true;
	take_container(log, &container);
}

bool pod_logs_is_open(const struct pod_logs *logs, const char *pod_name, const char *uid)
{
	const struct pod_log *log = find(logs, pod_name);

	return log && is_open(log) && text_equals(log->uid, uid);
}

bool pod_logs_is_any_ended_open(const struct pod_logs *logs)
{
	return logs->n_ended_open > 0;
}

bool pod_logs_is_any_open(const struct pod_logs *logs)
{
	return logs->n_open > 0;
}
