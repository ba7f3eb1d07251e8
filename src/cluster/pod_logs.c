/* A table of Pods by name, each with its log, and the successive streams of each log, as
 * kube/container_log.h decides. */
#include "cluster/pod_logs.h"

#include "io/file.h"
#include "io/own_process.h"
#include "io/random.h"
#include "kube/mirror_table.h"
#include "logs/folder.h"
#include "logs/writer.h"

#include <inttypes.h>

/* How long a stream of an exited container may neither end nor bring text; then it is reopened. */
#define LINGERING (10 * MSEC_PER_SECOND)
/* Lines that arrive within so short a time are written together; the index is no finer. */
#define SPACING ((msec) 5)
/* After this time, a stream without text counts as open. */
#define OPENING_TIME MSEC_PER_SECOND
#define BURST 32 /* streams */
#define SILENCE (600 * MSEC_PER_SECOND)

struct pod_log {
	struct arena *arena; /* of this struct and its name */
	struct pod_logs *logs;
	struct pod_log_name name;
	struct kube_call *call; /* NULL: between two streams, or the log is complete */
	struct loop_watch *timer; /* until the next stream; NULL: the log is complete */
	struct log_writer *writer; /* NULL: no text yet, not storable, or complete */
	bool cannot_be_kept;
	struct log_follow follow;
	struct log_lines lines;
	struct request_slot slot; /* to open a stream; held until it is open */
	instant heard_at;
	msec last_time; /* of its newest line; MSEC_UNSET: none came */
	struct err err; /* why the last stream was lost */
	char *words; /* the node's last reported message */
};

struct pod_logs {
	struct pod_logs_settings settings;
	struct mirror_table table; /* of struct pod_log, by Pod */
	size_t n_open, n_ended_open;
	size_t n_opened; /* since memory was last returned */
	int lock_fd; /* marks that this process writes the logs; -1: the mark failed */
	bool is_refusal_told;
	bool is_paused;
	struct text batch; /* text that is not written yet … */
	msec batch_time; /* … and its time; MSEC_UNSET: none */
};

/* The log is not complete. */
static bool pod_log_is_open(const struct pod_log *log)
{
	return log->timer != NULL;
}

/* Slots. A burst of handshakes leaves a fragmented heap. */

static void end_opening(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;
	const struct request_limiter *limiter = &logs->settings.api->limiter;

	request_slot_release(&log->slot);
	if (limiter->lines[REQUEST_STREAM].n_taken > 0 || logs->n_opened < BURST)
		return;
	logs->n_opened = 0;
	heap_give_back();
}

static void on_slot(void *data)
{
	struct pod_log *log = data;

	loop_timer_arm_after(log->timer, 0);
}

/* Files are only created for text: of thousands of Pods, many print nothing. */
static int open_writer(struct pod_log *log, struct err *err)
{
	if (log->writer || log->cannot_be_kept)
		return 0;
	struct log_name name;
	int rc = log_name_make(log->name.role, log->name.index, log->name.attempt, &name, err);

	if (rc == 0)
		rc = log_writer_open(log->logs->settings.folder, &name, LIMIT_LOG_FILE,
				     &log->writer, err);

	log->cannot_be_kept = rc < 0;
	if (rc == 0)
		log_writer_begin_copy(log->writer, log->logs->settings.copies);
	return rc;
}

static void write_batch(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;
	struct err err = {0};

	if (logs->batch.len == 0)
		return;
	int rc = open_writer(log, &err);

	if (rc == 0 && log->writer)
		rc = log_writer_add(log->writer, logs->batch.bytes, logs->batch.len,
				    logs->batch_time, &err);
	if (rc < 0)
		logs->settings.on_trouble(err.text, logs->settings.data);
	text_clear(&logs->batch);
}

static void on_pod_log_text(const char *bytes, size_t len, msec time, void *data)
{
	struct pod_log *log = data;
	struct pod_logs *logs = log->logs;

	log->follow.has_news = true;
	if (logs->settings.on_text) {
		/* Without a time it has that of the text before. The callback may pause us. */
		log->last_time = time == MSEC_UNSET ? log->last_time : time;
		logs->settings.on_text(&log->name, bytes, len, log->last_time, logs->settings.data);
		return;
	}
	if (time == MSEC_UNSET)
		time = logs->batch.len > 0 ? logs->batch_time : loop_now();
	if (logs->batch.len > 0 && time >= logs->batch_time + SPACING)
		write_batch(log);
	if (logs->batch.len == 0)
		logs->batch_time = time;
	text_add_bytes(&logs->batch, bytes, len);
	log->last_time = time;
}

static void report_pod_log_gap(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	struct text sentence CLEANUP(text_done) = {0};
	msec from, to;

	if (!log_lines_take_gap(&log->lines, &from, &to))
		return;
	text_addf(&sentence, "the log of Pod '%s' was interrupted and rotated meanwhile: lines ",
		  log->name.pod_name);
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

static void on_pod_log_bytes(const char *bytes, size_t len, void *data)
{
	struct pod_log *log = data;
	const struct pod_logs_settings *settings = &log->logs->settings;

	log->heard_at = loop_monotonic_now();
	end_opening(log);
	log_lines_take(&log->lines, bytes, len, on_pod_log_text, log);
	write_batch(log);
	report_pod_log_gap(log);
	if (settings->on_output)
		settings->on_output(settings->data);
}

static void pod_log_close(struct pod_log *log)
{
	if (!pod_log_is_open(log))
		return;
	end_opening(log);
	kube_call_cancel(TAKE(log->call));
	loop_watch_free(TAKE(log->timer));
	log_writer_close(TAKE(log->writer));
	log->logs->n_open--;
	log->logs->n_ended_open -= log->follow.container.has_ended;
}

static enum log_end classify_log_stream_end(const struct pod_log *log,
					    const struct kube_status *status, const struct err *err)
{
	if (!err)
		return LOG_END_PROPER;
	/* Another Pod with its name answers, which was just created. */
	bool is_of_another = log->follow.container.is_gone && status->code == 400;

	if (status->code == 404 || is_of_another)
		return LOG_END_ABSENT;
	if (status->code == 400 && !log->follow.began_after_end)
		return LOG_END_NOT_YET;
	if (status->code >= 400 && status->code < 500 && status->code != 429)
		return LOG_END_REFUSED;
	return status->code >= 500 ? LOG_END_FAILED : LOG_END_LOST;
}

/* Reports once what the node sends instead of lines. Not of a log that was deleted with its Pod. */
static void report_node_message(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	const struct log_container *container = &log->follow.container;
	struct text words CLEANUP(text_done) = {0};
	struct err told = {0};

	log_lines_take_words(&log->lines, &words);
	if (container->is_ending || container->is_gone || words.len == 0 ||
	    !text_keep(&log->words, text_of(&words)))
		return;
	err_set(&told, ERR_IO, "the node of Pod '%s' cannot read its log any further: %s",
		log->name.pod_name, log->words);
	settings->on_trouble(told.text, settings->data);
}

/* The log is complete. */
static void finish_pod_log(struct pod_log *log, bool is_whole)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("the log of Pod '%s' was interrupted; lines may be missing%s%s",
			   log->name.pod_name, log->err.code ? ": " : "", log->err.text);

	log_lines_end(&log->lines, on_pod_log_text, log);
	write_batch(log);
	pod_log_close(log);
	if (!is_whole)
		settings->on_trouble(sentence, settings->data);
	if (settings->on_output)
		settings->on_output(settings->data);
	settings->on_complete(settings->complete_data);
}

static void end_stream(struct pod_log *log, enum log_end end)
{
	const struct pod_logs_settings *settings = &log->logs->settings;

	if (end == LOG_END_PROPER)
		report_node_message(log);
	struct log_next next =
		log_follow_ended(&log->follow, end, log->lines.is_catching_up, random_fraction());

	if (settings->ends_at_once && (end == LOG_END_PROPER || end == LOG_END_NOT_YET))
		next.step = LOG_STEP_DONE;
	if (next.step == LOG_STEP_STREAM)
		loop_timer_arm_after(log->timer, next.wait);
	else
		finish_pod_log(log, next.step == LOG_STEP_DONE);
}

static void on_pod_log_stream_end(const struct kube_result *result, void *data)
{
	struct pod_log *log = data;
	const struct err *err = result->err;
	struct pod_logs *logs = log->logs;
	enum log_end end = classify_log_stream_end(log, result->status, err);

	end_opening(log);
	log->err = err ? *err : (struct err){0};
	if (end == LOG_END_REFUSED && !log->follow.reads_previous && !logs->is_refusal_told) {
		logs->settings.on_trouble(err->text, logs->settings.data);
		logs->is_refusal_told = true;
	}
	end_stream(log, end);
}

static void open_stream(struct pod_log *log)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	bool is_previous = log->follow.reads_previous;
	struct text since CLEANUP(text_done) = {0}, tail CLEANUP(text_done) = {0};

	/* A stream that starts with the first line that is wanted. */
	bool is_first = !log_lines_add_since(&log->lines, &since);

	if (is_first && settings->since != MSEC_UNSET)
		text_add_time(&since, settings->since);
	if (is_first && settings->tail >= 0)
		text_addf(&tail, "%" PRId64, settings->tail);
	const struct kube_parameter parameters[] = {
		{"container", log->name.container},
		{"timestamps", "true"},
		{"previous", is_previous ? "true" : NULL},
		{"follow", is_previous || settings->ends_at_once ? NULL : "true"},
		{"sinceTime", since.bytes},
		{"tailLines", tail.bytes},
		{0},
	};
	const struct kube_request request = {
		KUBE_GET,           &kube_pods, settings->namespace_name,
		log->name.pod_name, "log",      .parameters = parameters};

	kube_stream_start(&log->call, settings->api, &request,
			  settings->output_idle ? settings->output_idle : SILENCE, on_pod_log_bytes,
			  on_pod_log_stream_end, log);
}

/* The container has exited, and its stream has not ended: it may go on while it brings text. */
static void check_lingering(struct pod_log *log)
{
	msec left = LINGERING - instant_since(log->heard_at, loop_monotonic_now());

	if (!log->follow.container.has_ended)
		return;
	if (left > 0) {
		loop_timer_arm_after(log->timer, left);
		return;
	}
	kube_call_cancel(TAKE(log->call));
	end_stream(log, LOG_END_LOST);
}

/* Callback of the log's timer: opens the next stream, or checks the present one. */
static void pod_log_begin_stream(void *data)
{
	struct pod_log *log = data;
	const struct pod_logs_settings *settings = &log->logs->settings;

	if (log->call) {
		end_opening(log);
		check_lingering(log);
		return;
	}
	if (log->logs->is_paused)
		return;
	/* Another Pod may have its name by now. */
	if (log->follow.container.is_gone) {
		finish_pod_log(log, log->follow.has_started && !log->follow.was_lost);
		return;
	}
	if (!request_slot_acquire(&log->slot, &settings->api->limiter, REQUEST_STREAM,
				  settings->namespace_name, on_slot, log))
		return;
	log->logs->n_opened++;
	log_lines_begin(&log->lines, log_follow_begin(&log->follow));
	log->heard_at = loop_monotonic_now();
	open_stream(log);
	loop_timer_arm_after(log->timer, OPENING_TIME);
}

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings)
{
	struct pod_logs *logs = mem_new(sizeof(*logs));
	rlim_t before;

	/* A log with lines needs, with the console's, four open files: a large job exceeds the
	 * usual limit of 1024. A file that cannot be opened has its own error. */
	(void) !descriptor_limit_raise(0, &before, NULL);
	logs->settings = *settings;
	logs->lock_fd = settings->folder ? log_folder_lock(settings->folder) : -1;
	return logs;
}

static void free_log(struct pod_log *log)
{
	pod_log_close(log);
	free(log->words);
	arena_free(log->arena);
}

void pod_logs_free(struct pod_logs *logs)
{
	struct pod_log *log;
	const void *place = NULL;

	if (!logs)
		return;
	while ((log = mirror_table_next(&logs->table, &place)))
		free_log(log);
	mirror_table_done(&logs->table);
	file_close(&logs->lock_fd);
	text_done(&logs->batch);
	free(logs);
}

static struct pod_log *log_new(struct pod_logs *logs, const struct job_pod *pod)
{
	struct arena *arena = arena_new();
	struct pod_log *log = arena_take(arena, sizeof(*log));

	log->arena = arena;
	log->logs = logs;
	log->name = (struct pod_log_name){
		arena_copy_text(arena, pod->name),
		arena_copy_text(arena, pod->uid),
		arena_copy_text(arena, pod->container),
		arena_copy_text(arena, pod->seen.role),
		pod->seen.index,
		pod->seen.attempt,
	};
	log->timer = loop_new_timer(logs->settings.api->loop, pod_log_begin_stream, log);
	logs->n_open++;
	return log;
}

/* A new state of the container may end a wait, and starts one for a stream that does not end. */
static void apply_container_state(struct pod_log *log, const struct log_container *container)
{
	struct log_container before = log->follow.container;
	bool is_new = !log->follow.has_started || container->has_ended != before.has_ended ||
		      container->n_restarts != before.n_restarts;

	log->follow.container.is_ending |= container->is_ending;
	if (!pod_log_is_open(log) || !(is_new || container->is_gone))
		return;
	log->logs->n_ended_open += container->has_ended;
	log->logs->n_ended_open -= before.has_ended;
	log->follow.container = *container;
	log->follow.container.is_ending |= before.is_ending;
	/* Ends a wait, or limits how long an open stream may last. */
	if (is_new)
		loop_timer_arm_after(log->timer, log->call ? LINGERING : 0);
}

void pod_logs_update(struct pod_logs *logs, const struct job_pod *pod)
{
	const struct observed_replica *seen = &pod->seen;
	struct log_name written;

	if (seen->started_at == MSEC_UNSET)
		return;
	struct mirror_entry *entry = mirror_table_put(&logs->table, pod->name);
	struct pod_log *log = entry->kept;

	/* Lines that an earlier muster process wrote are sent again, as a whole. */
	if (!log && logs->settings.folder &&
	    log_name_make(seen->role, seen->index, seen->attempt, &written, NULL) == 0)
		log_writer_remove(logs->settings.folder, &written);
	if (log && !text_equals(log->name.uid, pod->uid)) {
		free_log(log);
		log = NULL;
	}
	entry->kept = log ? log : log_new(logs, pod);
	/* If only the present log is wanted, it ends there. */
	const struct log_container container = {
		.has_ended = !observed_is_live(seen) || logs->settings.ends_at_once,
		.is_ending = observed_was_asked_to_end(seen),
		.n_restarts = pod->n_restarts,
	};

	apply_container_state(entry->kept, &container);
}

void pod_logs_gone(struct pod_logs *logs, const char *pod_name)
{
	struct pod_log *log = logs ? mirror_table_get(&logs->table, pod_name) : NULL;

	if (!log)
		return;
	struct log_container container = log->follow.container;

	container.has_ended = container.is_gone = true;
	apply_container_state(log, &container);
}

/* Streams are closed: an unread one would stall others of its connection. New ones continue. */
void pod_logs_pause(struct pod_logs *logs)
{
	struct pod_log *log;
	const void *place = NULL;

	logs->is_paused = true;
	while ((log = mirror_table_next(&logs->table, &place))) {
		if (!log->call)
			continue;
		end_opening(log);
		kube_call_cancel(TAKE(log->call));
		log->follow.was_lost = true;
	}
}

void pod_logs_resume(struct pod_logs *logs)
{
	struct pod_log *log;
	const void *place = NULL;

	logs->is_paused = false;
	while ((log = mirror_table_next(&logs->table, &place))) {
		if (pod_log_is_open(log) && !log->call)
			loop_timer_arm_after(log->timer, 0);
	}
}

bool pod_logs_is_open(const struct pod_logs *logs, const char *pod_name, const char *uid)
{
	const struct pod_log *log = logs ? mirror_table_get(&logs->table, pod_name) : NULL;

	return log && pod_log_is_open(log) && text_equals(log->name.uid, uid);
}

bool pod_logs_is_any_ended_open(const struct pod_logs *logs)
{
	return logs && logs->n_ended_open > 0;
}

bool pod_logs_is_any_open(const struct pod_logs *logs)
{
	return logs->n_open > 0;
}

msec pod_logs_known_until(const struct pod_logs *logs)
{
	struct pod_log *log;
	msec until = MSEC_NEVER;
	const void *place = NULL;

	while ((log = mirror_table_next(&logs->table, &place))) {
		if (pod_log_is_open(log))
			until = msec_min(until, log->last_time);
	}
	return until;
}
