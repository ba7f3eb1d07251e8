#include "serve/job_log.h"

#include "cluster/client.h"
#include "http/query.h"

#define LONGEST_LINE 16384 /* bytes; a longer line is split into several */
#define MOST_WAITING ((size_t) 1024 * 1024) /* bytes that the client has not taken */
#define MOST_LINES 1000000000

/* The unfinished line of a replica. */
struct open_line {
	char *role;
	int index, attempt;
	msec time; /* of its first bytes */
	struct text text;
};

struct job_log {
	struct job_log_settings settings;
	struct client_logs *logs;
	struct open_line *lines;
	size_t n_lines, capacity;
	struct text out; /* to send with the next piece */
	bool is_paused;
};

/* The request. */

static int read_parameter(struct job_log_request *request, const char *name, const char *value,
			  struct err *err)
{
	bool *flag = text_equals(name, "follow")       ? &request->follows
		     : text_equals(name, "timestamps") ? &request->has_times
						       : NULL;
	int64_t index = request->index;
	int rc = 0;

	if (flag && !text_equals(value, "true") && !text_equals(value, "false"))
		return err_set(err, ERR_INVALID, "%s: '%s' is neither true nor false", name, value);
	if (flag) {
		*flag = text_equals(value, "true");
	} else if (text_equals(name, "tail")) {
		rc = text_read_int(value, 0, MOST_LINES, &request->tail, err);
	} else if (text_equals(name, "index")) {
		rc = text_read_int(value, 0, LIMIT_REPLICAS, &index, err);
		request->index = (int) index;
	} else if (text_equals(name, "since")) {
		rc = text_read_time(value, &request->since, err);
	} else if (text_equals(name, "role")) {
		free(request->role);
		request->role = mem_copy_text(value);
	} else {
		return err_set(err, ERR_INVALID,
			       "%s: unknown parameter (expected follow, role, index, tail, since "
			       "and timestamps)",
			       name);
	}
	return rc < 0 ? err_prefix(err, "%s", name) : 0;
}

int job_log_request_read(const char *query, struct job_log_request *ret_request, struct err *err)
{
	struct http_query *parameters CLEANUP(http_query_cleanup) = http_query_new(query);
	struct job_log_request request = {.index = -1, .tail = -1, .since = MSEC_UNSET};
	const void *place = NULL;
	const char *name, *value;
	int rc = 0;

	if (!parameters)
		return err_set(err, ERR_INVALID,
			       "the query cannot be read (expected NAME=VALUE&…)");
	while (rc == 0 && http_query_next(parameters, &place, &name, &value))
		rc = read_parameter(&request, name, value, err);
	if (rc < 0)
		job_log_request_done(&request);
	else
		*ret_request = request;
	return rc;
}

void job_log_request_done(struct job_log_request *request)
{
	free(request->role);
}

/* Sending. */

static void send(void *data)
{
	struct job_log *log = data;
	struct http_call *http = log->settings.http;

	http_call_send(http, text_of(&log->out), log->out.len);
	text_clear(&log->out);
	if (log->is_paused || http_call_waiting(http) < MOST_WAITING)
		return;
	log->is_paused = true;
	client_kube_logs_pause(log->logs);
}

static void on_taken(struct http_call *http, void *data)
{
	struct job_log *log = data;

	(void) http;
	if (!log->is_paused)
		return;
	log->is_paused = false;
	client_kube_logs_resume(log->logs);
}

static void flush_open_log_line(struct job_log *log, struct open_line *line)
{
	if (line->text.len == 0)
		return;
	text_addf(&log->out, "%s-%d | ", line->role, line->index);
	if (log->settings.take_request.has_times) {
		text_add_line_time(&log->out, line->time, 0);
		text_add_char(&log->out, ' ');
	}
	text_add_bytes(&log->out, line->text.bytes, line->text.len);
	if (log->out.bytes[log->out.len - 1] != '\n')
		text_add_char(&log->out, '\n');
	text_clear(&line->text);
}

static struct open_line *line_of(struct job_log *log, const struct pod_log_name *name)
{
	struct open_line *line;

	for (size_t i = 0; i < log->n_lines; i++)
		if (log->lines[i].index == name->index &&
		    text_equals(log->lines[i].role, name->role))
			return &log->lines[i];
	mem_grow(&log->lines, &log->capacity, log->n_lines, sizeof(*log->lines));
	line = &log->lines[log->n_lines++];
	*line = (struct open_line){.role = mem_copy_text(name->role), .index = name->index};
	return line;
}

static void on_text(const struct pod_log_name *name, const char *bytes, size_t len, msec time,
		    void *data)
{
	struct job_log *log = data;
	struct open_line *line = line_of(log, name);

	if (line->attempt != name->attempt)
		flush_open_log_line(log, line);
	line->attempt = name->attempt;
	while (len > 0) {
		const char *feed = memchr(bytes, '\n', len);
		size_t room = LONGEST_LINE - line->text.len;
		size_t taken = feed ? (size_t) (feed - bytes) + 1 : len;

		if (taken > room)
			taken = room;
		if (line->text.len == 0)
			line->time = time;
		text_add_bytes(&line->text, bytes, taken);
		if (bytes[taken - 1] == '\n' || line->text.len == LONGEST_LINE)
			flush_open_log_line(log, line);
		bytes += taken;
		len -= taken;
	}
}

static void on_job_log_trouble(const char *sentence, void *data)
{
	struct job_log *log = data;

	text_addf(&log->out, "muster: %s\n", sentence);
	send(log);
}

/* Ending. */

static void on_over(void *data)
{
	struct job_log *log = data;

	for (size_t i = 0; i < log->n_lines; i++)
		flush_open_log_line(log, &log->lines[i]);
	send(log);
	http_call_end(log->settings.http);
	log->settings.on_end(log, log->settings.data);
}

static void on_job_log_disconnect(struct http_call *http, void *data)
{
	struct job_log *log = data;

	(void) http;
	log->settings.on_end(log, log->settings.data);
}

struct job_log *job_log_new(const struct job_log_settings *settings)
{
	struct job_log *log = mem_new(sizeof(*log));
	const struct job_log_request *own = &settings->take_request;
	const struct client_kube_logs_source source = {
		.api = settings->api,
		.take_job = settings->take_job,
		.is_of_tfjob = true,
		.on_text = on_text,
		.on_output = send,
	};
	const struct client_logs_request request = {
		.loop = settings->api->loop,
		.role = own->role,
		.index = own->index,
		.attempt = -1,
		.since = own->since,
		.tail = own->tail,
		.follows = own->follows,
		.on_over = on_over,
		.on_trouble = on_job_log_trouble,
		.data = log,
	};

	log->settings = *settings;
	http_call_hold(settings->http, on_job_log_disconnect, log);
	http_call_begin(settings->http, 200, "text/plain; charset=utf-8", on_taken);
	log->logs = client_kube_logs_new(&source, &request);
	return log;
}

void job_log_free(struct job_log *log)
{
	client_kube_logs_free(log->logs);
	for (size_t i = 0; i < log->n_lines; i++) {
		free(log->lines[i].role);
		text_done(&log->lines[i].text);
	}
	free(log->lines);
	text_done(&log->out);
	job_log_request_done(&log->settings.take_request);
	free(log);
}
