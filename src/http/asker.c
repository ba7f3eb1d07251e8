#include "http/asker.h"

#include "base/mem.h"
#include "io/port.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <string.h>

#define HEAD_LIMIT (16 * 1024) /* bytes of an answer's head */
#define CONTINUE 100

struct plain_asker {
	struct http_asker base; /* first member, so that both pointers are equal */
	struct http_asker_settings settings;
	char *address;
	char *host; /* as in a header */
	char *authorization; /* header value; NULL: none */
	struct evhttp_connection *connection;
	struct evhttp_request *request; /* current; NULL: none */
	struct loop_watch
		*limit; /* for the whole answer: evhttp's own begins again with each byte */
	const char *why; /* libevent's reason of failure; NULL: none */
	bool has_answered; /* at least once */
};

static const char *request_error_sentence_of(enum evhttp_request_error error, bool has_answered)
{
	switch (error) {
	case EVREQ_HTTP_TIMEOUT:
		return "it does not respond";
	case EVREQ_HTTP_EOF:
		return has_answered ? "it closed the connection without a response"
				    : "it closed the connection without a response, as a server "
				      "with TLS does";
	case EVREQ_HTTP_INVALID_HEADER:
		return "it does not speak HTTP";
	case EVREQ_HTTP_DATA_TOO_LONG:
		return "its response is too long";
	case EVREQ_HTTP_BUFFER_ERROR:
	case EVREQ_HTTP_REQUEST_CANCEL:
		break;
	}
	return NULL;
}

static void on_error(enum evhttp_request_error error, void *data)
{
	struct plain_asker *asker = data;

	if (!asker->why)
		asker->why = request_error_sentence_of(error, asker->has_answered);
}

static void report_plain_failure(const struct plain_asker *asker, const struct err *err)
{
	asker->settings.on_answer(0, NULL, 0, err, asker->settings.data);
}

/* libevent closes the connection before it reports the failure, so the reason is lost. */
static void report_unreachable_server(const struct plain_asker *asker)
{
	struct err err;

	err_set(&err, ERR_UNREACHABLE, "cannot reach %s port %d: %s", asker->address,
		asker->settings.port,
		asker->why ? asker->why : "no server responds at this address");
	report_plain_failure(asker, &err);
}

/* evhttp would keep the headers of any number of "100 Continue", for which our requests do not ask,
 * and the line of a chunk's size however long it is. Our servers send neither. */
static int on_head(struct evhttp_request *request, void *data)
{
	struct plain_asker *asker = data;

	if (evhttp_request_get_response_code(request) != CONTINUE &&
	    !evhttp_find_header(evhttp_request_get_input_headers(request), "Transfer-Encoding"))
		return 0;
	asker->why = "its response is not that of a server of muster";
	return -1;
}

/* Without a request, or without a status in it, there is no answer. */
static void on_plain_request_done(struct evhttp_request *request, void *data)
{
	struct plain_asker *asker = data;
	int status = request ? evhttp_request_get_response_code(request) : 0;

	asker->request = NULL;
	loop_timer_arm(asker->limit, INSTANT_NEVER);
	if (!status) {
		report_unreachable_server(asker);
		return;
	}
	asker->has_answered = true;
	struct evbuffer *body = evhttp_request_get_input_buffer(request);

	asker->settings.on_answer(status, evbuffer_pullup(body, -1), evbuffer_get_length(body),
				  NULL, asker->settings.data);
}

static void cancel_plain_request(struct plain_asker *asker)
{
	struct evhttp_request *request = TAKE(asker->request);

	if (request)
		evhttp_cancel_request(request);
}

static void on_time_limit(void *data)
{
	struct plain_asker *asker = data;

	if (!asker->request)
		return;
	asker->why = request_error_sentence_of(EVREQ_HTTP_TIMEOUT, asker->has_answered);
	cancel_plain_request(asker);
	report_unreachable_server(asker);
}

static void plain_asker_free(struct http_asker *base)
{
	struct plain_asker *asker = (struct plain_asker *) base;

	cancel_plain_request(asker);
	evhttp_connection_free(asker->connection);
	loop_watch_free(asker->limit);
	mem_free_secret(&asker->authorization);
	free(asker->address);
	free(asker->host);
	free(asker);
}

static void plain_asker_ask(struct http_asker *base, const char *path, const void *body, size_t len)
{
	struct plain_asker *asker = (struct plain_asker *) base;
	struct err err;

	cancel_plain_request(asker);
	asker->why = NULL;
	/* Any user could have taken the port while our server was not there. */
	int rc = asker->authorization ? port_owner_check(asker->address, asker->settings.port, &err)
				      : 0;

	if (rc == ERR_REFUSED)
		err_prefix(&err, "the token was not sent");
	if (rc < 0) {
		report_plain_failure(asker, &err);
		return;
	}
	struct evhttp_request *request = evhttp_request_new(on_plain_request_done, asker);

	if (!request)
		mem_abort();
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);

	asker->request = request;
	loop_timer_arm_after(asker->limit, asker->settings.patience);
	evhttp_request_set_error_cb(request, on_error);
	evhttp_request_set_header_cb(request, on_head);
	evhttp_add_header(headers, "Host", asker->host);
	if (body)
		evhttp_add_header(headers, "Content-Type", "application/json");
	if (asker->authorization)
		evhttp_add_header(headers, "Authorization", asker->authorization);
	if (body)
		evbuffer_add(evhttp_request_get_output_buffer(request), body, len);
	/* An immediate failure is reported by on_done, and the request is already freed. */
	if (evhttp_make_request(asker->connection, request, body ? EVHTTP_REQ_POST : EVHTTP_REQ_GET,
				path) < 0 &&
	    asker->request) {
		asker->request = NULL;
		report_unreachable_server(asker);
	}
}

int http_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		   struct http_asker **ret_asker, struct err *err)
{
	static const struct http_asker_functions functions = {plain_asker_ask, plain_asker_free};
	struct plain_asker *asker = mem_new(sizeof(*asker));

	(void) err;
	asker->base.functions = &functions;
	asker->settings = *settings;
	asker->address = mem_copy_text(settings->address);
	asker->host = mem_format(strchr(asker->address, ':') ? "[%s]" : "%s", asker->address);
	if (settings->token)
		asker->authorization = mem_format("Bearer %s", settings->token);
	asker->limit = loop_new_timer(loop, on_time_limit, asker);
	asker->connection = evhttp_connection_base_new(loop_base(loop), NULL, asker->address,
						       (unsigned short) settings->port);
	if (!asker->connection)
		mem_abort();
	evhttp_connection_set_timeout(asker->connection,
				      (int) (settings->patience / MSEC_PER_SECOND));
	evhttp_connection_set_max_headers_size(asker->connection, HEAD_LIMIT);
	evhttp_connection_set_max_body_size(asker->connection, (ev_ssize_t) settings->answer_limit);
	*ret_asker = &asker->base;
	return 0;
}
