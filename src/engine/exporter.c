#include "engine/exporter.h"

#include "base/mem.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "io/http_server.h"

#include <stdlib.h>
#include <string.h>

struct exporter {
	struct exporter_settings settings;
	struct metrics_passes passes;
	int64_t pass_start; /* of the pass that is under way; 0: none */
	struct http_server *server;
};

static void answer(struct http_call *call, int status, const char *type, const char *text)
{
	http_call_answer(call, status, type, text, strlen(text));
}

static void answer_metrics(struct http_call *call, const struct exporter *exporter)
{
	struct text text CLEANUP(text_done) = {0};

	exporter->settings.write(&exporter->passes, &text, exporter->settings.data);
	answer(call, 200, METRICS_CONTENT_TYPE, text_of(&text));
}

static void answer_ready(struct http_call *call, const struct exporter *exporter)
{
	const struct exporter_settings *settings = &exporter->settings;

	if (settings->is_ready && !settings->is_ready(settings->data))
		answer(call, 503, "text/plain", "not yet\n");
	else
		answer(call, 200, "text/plain", "ok\n");
}

static void on_call(struct http_call *call, void *data)
{
	const char *path = http_call_path(call), *method = http_call_method(call);
	bool is_metrics = text_equals(path, "/metrics"), is_ready = text_equals(path, "/readyz");

	if (!is_metrics && !is_ready && !text_equals(path, "/healthz")) {
		answer(call, 404, "text/plain", "not found; try /metrics, /healthz or /readyz\n");
	} else if (!text_equals(method, "GET") && !text_equals(method, "HEAD")) {
		http_call_add_header(call, "Allow", "GET, HEAD");
		answer(call, 405, "text/plain", "method not allowed; use GET\n");
	} else if (is_metrics) {
		answer_metrics(call, data);
	} else if (is_ready) {
		answer_ready(call, data);
	} else {
		answer(call, 200, "text/plain", "ok\n");
	}
}

int exporter_new(struct loop *loop, const struct exporter_settings *settings,
		 struct exporter **ret_exporter, struct err *err)
{
	const struct listening *listening = settings->listening;

	if (!listening) {
		*ret_exporter = NULL;
		return 0;
	}
	/* Others call this machine, or the Service before it, by names that nobody here knows. */
	static const char *const loopback_hosts[] = {"localhost", NULL};
	struct exporter *exporter = mem_new(sizeof(*exporter));
	const struct http_server_settings server = {
		.listening = listening,
		.hosts = listening_is_loopback(listening->fd) ? loopback_hosts : NULL,
		.header_limit = LIMIT_HTTP_HEADERS,
		.body_limit = LIMIT_HTTP_NO_BODY,
		.connection_limit = LIMIT_EXPORTER_CONNECTIONS,
		.patience = 30 * MSEC_PER_SECOND,
		.on_call = on_call,
		.data = exporter,
	};
	int rc = http_server_new(loop, &server, &exporter->server, err);

	if (rc < 0) {
		free(exporter);
		return rc;
	}
	exporter->settings = *settings;
	*ret_exporter = exporter;
	return 0;
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	http_server_free(exporter->server);
	listening_remove(exporter->settings.listening);
	free(exporter);
}

void exporter_begin_pass(struct exporter *exporter)
{
	if (exporter && !exporter->pass_start)
		exporter->pass_start = loop_monotonic_microseconds();
}

void exporter_end_pass(struct exporter *exporter)
{
	if (!exporter || !exporter->pass_start)
		return;
	metrics_add_pass(&exporter->passes, loop_monotonic_microseconds() - exporter->pass_start);
	exporter->pass_start = 0;
}
