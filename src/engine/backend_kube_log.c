/* One stream for each Pod, from its first byte to its end. */
#include "engine/backend_kube_log.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/log_writer.h"
#include "io/loop.h"

#include <stdlib.h>

static const struct kube_resource pods = {"", "v1", "pods", false};

struct pod_log {
	struct pod_logs *logs;
	char *uid, *pod_name;
	char *role;
	int index;
	struct kube_call *call; /* NULL: it has ended */
	struct log_writer *writer; /* NULL: it cannot be kept, or has ended */
};

struct pod_logs {
	struct pod_logs_settings settings;
	struct pod_log **list;
	size_t count, capacity;
};

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings)
{
	struct pod_logs *logs = mem_new(sizeof(*logs));

	logs->settings = *settings;
	return logs;
}

static void close_log(struct pod_log *log)
{
	kube_call_cancel(TAKE(log->call));
	log_writer_close(TAKE(log->writer));
}

void pod_logs_free(struct pod_logs *logs)
{
	if (!logs)
		return;
	for (size_t i = 0; i < logs->count; i++) {
		close_log(logs->list[i]);
		free(logs->list[i]->uid);
		free(logs->list[i]->pod_name);
		free(logs->list[i]->role);
		free(logs->list[i]);
	}
	free(logs->list);
	free(logs);
}

static struct pod_log *find(const struct pod_logs *logs, const char *uid)
{
	for (size_t i = 0; i < logs->count; i++)
		if (text_equals(logs->list[i]->uid, uid))
			return logs->list[i];
	return NULL;
}

static void on_bytes(const char *bytes, size_t len, void *data)
{
	struct pod_log *log = data;
	const struct pod_logs_settings *settings = &log->logs->settings;
	struct err err = {0};

	if (!log->writer)
		return;
	if (log_writer_add(log->writer, bytes, len, loop_now(), &err) < 0)
		settings->on_trouble(err.text, settings->data);
	settings->on_output(settings->data);
}

static void on_end(struct json *object, const struct kube_status *status, const struct err *err,
		   void *data)
{
	struct pod_log *log = data;
	const struct pod_logs_settings *settings = &log->logs->settings;

	(void) object, (void) status;
	log->call = NULL;
	close_log(log);
	if (err && err->code != ERR_NOT_FOUND) {
		char *sentence CLEANUP(mem_free_text) =
			mem_format("the log of Pod '%s' broke off, and lines of it may be "
				   "missing: %s",
				   log->pod_name, err->text);

		settings->on_trouble(sentence, settings->data);
	}
	settings->on_output(settings->data);
	settings->on_complete(settings->data);
}

/* The log of an attempt is closed before that of the next one is opened. */
static void close_others(struct pod_logs *logs, const struct pod_log_name *name)
{
	for (size_t i = 0; i < logs->count; i++)
		if (logs->list[i]->index == name->index &&
		    text_equals(logs->list[i]->role, name->role))
			close_log(logs->list[i]);
}

static struct kube_call *open_stream(struct pod_log *log, const char *container)
{
	const struct pod_logs_settings *settings = &log->logs->settings;
	const struct kube_parameter parameters[] = {
		{"follow", "true"}, {"container", container}, {0}};
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &pods,
		.namespace_name = settings->namespace_name,
		.name = log->pod_name,
		.subresource = "log",
		.parameters = parameters,
	};

	return kube_stream_new(settings->api, &request, 0, on_bytes, on_end, log);
}

void pod_logs_follow(struct pod_logs *logs, const struct pod_log_name *name)
{
	struct pod_log *log;
	struct err err = {0};

	if (find(logs, name->uid))
		return;
	close_others(logs, name);
	log = mem_new(sizeof(*log));
	log->logs = logs;
	log->uid = mem_copy_text(name->uid);
	log->pod_name = mem_copy_text(name->pod_name);
	log->role = mem_copy_text(name->role);
	log->index = name->index;
	mem_grow(&logs->list, &logs->capacity, logs->count, sizeof(struct pod_log *));
	logs->list[logs->count++] = log;
	if (log_writer_open(logs->settings.folder, name->role, name->index, name->attempt,
			    LIMIT_LOG_FILE, &log->writer, &err) < 0)
		logs->settings.on_trouble(err.text, logs->settings.data);
	log->call = open_stream(log, name->container);
}

bool pod_logs_is_open(const struct pod_logs *logs, const char *uid)
{
	const struct pod_log *log = find(logs, uid);

	return log && log->call;
}

bool pod_logs_is_any_open(const struct pod_logs *logs)
{
	for (size_t i = 0; i < logs->count; i++)
		if (logs->list[i]->call)
			return true;
	return false;
}
