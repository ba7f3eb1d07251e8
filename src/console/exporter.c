#include "console/exporter.h"

#include "http/routes.h"
#include "spec/limits.h"

struct exporter {
	struct exporter_settings settings;
	struct metrics_passes passes;
	int64_t pass_start; /* of the pass in progress; 0: none */
	struct http_server *server;
};

static void answer_metrics(struct http_call *call, const char *name, void *data)
{
	const struct exporter *exporter = data;
	struct text text CLEANUP(text_done) = {0};

	(void) name;
	exporter->settings.write(&exporter->passes, &text, exporter->settings.data);
	http_call_answer(call, 200, METRICS_CONTENT_TYPE, text_of(&text), text.len);
}

static void answer_ready(struct http_call *call, const char *name, void *data)
{
	const struct exporter *exporter = data;
	const struct exporter_settings *settings = &exporter->settings;

	(void) name;
	http_answer_ready(call, !settings->is_ready || settings->is_ready(settings->data));
}

static const struct http_route routes[] = {
	{.method = "GET", .path = "/metrics", .answer = answer_metrics},
	{.method = "GET", .path = "/healthz", .answer = http_answer_health},
	{.method = "GET", .path = "/readyz", .answer = answer_ready},
	{0},
};

static void on_exporter_call(struct http_call *call, void *data)
{
	http_routes_call(routes, &(struct http_access){0}, call, data);
}

int exporter_new(struct loop *loop, const struct exporter_settings *settings,
		 struct exporter **ret_exporter, struct err *err)
{
	const struct listening *listening = settings->listening;

	if (!listening) {
		*ret_exporter = NULL;
		return 0;
	}
	struct exporter *exporter = mem_new(sizeof(*exporter));
	const struct http_server_settings server = {
		.listening = listening,
		.hosts = http_hosts_of(listening),
		.header_limit = LIMIT_HTTP_HEADERS,
		.body_limit = LIMIT_HTTP_NO_BODY,
		.connection_limit = LIMIT_EXPORTER_CONNECTIONS,
		.patience = 30 * MSEC_PER_SECOND,
		.on_call = on_exporter_call,
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
