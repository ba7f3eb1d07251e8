#include "compat/elasticdl_log.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/output.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE MSEC_PER_SECOND
#define SEPARATOR " | "
#define LONGEST_LINE 65536 /* bytes; our masters send no longer lines */

/* How far the output of a replica was printed. A resumed stream begins with the first line
 * again. */
struct printed_until {
	char *replica; /* "worker-0" */
	msec time; /* of the last line */
	int64_t n_same; /* number of lines of that time … */
	int64_t n_again; /* … and how many of them this stream has sent again */
	bool is_known; /* this stream has sent only known lines */
};

struct elasticdl_log {
	struct elasticdl_log_settings settings;
	char *url;
	struct http_call *call; /* NULL: between two streams, or after the end */
	struct loop_watch *timer;
	struct text line; /* the incomplete last line */
	struct printed_until *replicas;
	size_t n_replicas, capacity;
	bool is_over;
};

/* Lines. */

static struct printed_until *find_printed_replica(struct elasticdl_log *log, const char *name,
						  size_t len)
{
	struct printed_until *replica;

	for (size_t i = 0; i < log->n_replicas; i++)
		if (strncmp(log->replicas[i].replica, name, len) == 0 &&
		    !log->replicas[i].replica[len])
			return &log->replicas[i];
	mem_grow(&log->replicas, &log->capacity, log->n_replicas, sizeof(*log->replicas));
	replica = &log->replicas[log->n_replicas++];
	*replica = (struct printed_until){.replica = mem_copy_bytes(name, len), .time = MSEC_UNSET};
	return replica;
}

static bool is_new(struct printed_until *replica, msec time)
{
	if (replica->is_known && replica->time != MSEC_UNSET) {
		if (time < replica->time ||
		    (time == replica->time && ++replica->n_again <= replica->n_same))
			return false;
	}
	replica->is_known = false;
	replica->n_same = time == replica->time ? replica->n_same + 1 : 1;
	replica->time = time;
	return true;
}

static void print_replica_line(const char *replica, size_t replica_len, const char *text,
			       size_t len)
{
	struct text line CLEANUP(text_done) = {0};
	const char *shown = line_text_last_state(text, &len);

	line_text_add_plain(&line, replica, replica_len);
	text_add(&line, SEPARATOR);
	line_text_add_safe(&line, shown, len);
	text_add_char(&line, '\n');
	output_add_screen(&line);
}

/* "worker-0 | 2026-11-28T09:00:00.123Z text", or a message of the master. */
static void accept_master_log_line(struct elasticdl_log *log, const char *line)
{
	const char *separator = strstr(line, SEPARATOR);
	const char *stamp = separator ? separator + strlen(SEPARATOR) : "";
	const char *blank = strchr(stamp, ' ');
	char *time_text CLEANUP(mem_free_text) =
		blank ? mem_copy_bytes(stamp, (size_t) (blank - stamp)) : NULL;
	struct text sentence CLEANUP(text_done) = {0};
	msec time;

	if (!blank || text_read_time(time_text, &time, NULL) < 0) {
		line_text_add_sentence(&sentence, line, strlen(line));
		output_print_message("%s", text_of(&sentence));
		return;
	}
	size_t len = (size_t) (separator - line);

	if (is_new(find_printed_replica(log, line, len), time))
		print_replica_line(line, len, blank + 1, strlen(blank + 1));
}

static void on_master_log_bytes(const char *bytes, size_t len, void *data)
{
	struct elasticdl_log *log = data;

	for (const char *feed; len > 0; len -= (size_t) (feed - bytes), bytes = feed) {
		feed = memchr(bytes, '\n', len);
		if (!feed && log->line.len + len > LONGEST_LINE) {
			text_clear(&log->line);
			return;
		}
		feed = feed ? feed + 1 : bytes + len;
		text_add_bytes(&log->line, bytes, (size_t) (feed - bytes));
		if (feed[-1] != '\n')
			continue;
		log->line.bytes[log->line.len - 1] = '\0';
		accept_master_log_line(log, text_of(&log->line));
		text_clear(&log->line);
	}
	output_flush();
}

/* Streams. */

static void finish_master_log(struct elasticdl_log *log)
{
	log->is_over = true;
	log->settings.on_over(log->settings.data);
}

void elasticdl_say_answer(const char *url, const struct http_answer *answer)
{
	struct text text CLEANUP(text_done) = {0};
	const char *location = http_answer_header(answer, "Location", 0);
	bool is_redirect = answer->status < 400 && location;
	const char *sentence = is_redirect ? location : answer->body;

	if (is_redirect)
		text_add(&text, "it redirects, so give the URL of the master (--master): ");
	line_text_add_sentence(&text, sentence, strcspn(sentence, "\n"));
	output_print_message("%s: %s", url, text_of(&text));
}

/* ElasticDL's own master has no logs, and other failures are permanent. */
static void on_master_log_done(const struct http_answer *answer, const struct err *err, void *data)
{
	struct elasticdl_log *log = data;

	log->call = NULL;
	text_clear(&log->line);
	if (err || answer->status >= 500) {
		loop_timer_arm_after(log->timer, PAUSE);
		return;
	}
	if (answer->status >= 300 && answer->status != 404)
		elasticdl_say_answer(log->url, answer);
	finish_master_log(log);
}

static void request_master_log(void *data)
{
	struct elasticdl_log *log = data;
	const char *const headers[] = {log->settings.authorization, NULL};
	const struct http_request request = {
		.method = "GET",
		.url = log->url,
		.headers = headers,
		.trust = log->settings.trust,
		.has_token = log->settings.authorization != NULL,
		.on_bytes = on_master_log_bytes,
		.on_done = on_master_log_done,
		.data = log,
	};

	for (size_t i = 0; i < log->n_replicas; i++) {
		log->replicas[i].is_known = true;
		log->replicas[i].n_again = 0;
	}
	log->call = http_call_new(log->settings.client, &request);
}

struct elasticdl_log *elasticdl_log_new(const struct elasticdl_log_settings *settings)
{
	struct elasticdl_log *log = mem_new(sizeof(*log));

	log->settings = *settings;
	log->url = mem_format("%s/log?follow=true&timestamps=true", settings->url);
	log->timer = loop_new_timer(settings->loop, request_master_log, log);
	request_master_log(log);
	return log;
}

void elasticdl_log_free(struct elasticdl_log *log)
{
	if (!log)
		return;
	http_call_cancel(log->call);
	loop_watch_free(log->timer);
	for (size_t i = 0; i < log->n_replicas; i++)
		free(log->replicas[i].replica);
	free(log->replicas);
	text_done(&log->line);
	free(log->url);
	free(log);
}

bool elasticdl_log_is_over(const struct elasticdl_log *log)
{
	return log->is_over;
}
