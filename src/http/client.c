/* The life of a call: it waits, it runs in one of two pools, it ends. Short calls and streams have
 * separate pools, so that no call waits for the bytes of a hundred streams.
 *
 * libcurl's functions must not be called while it calls us. Requests of a callback are recorded and
 * executed in the client's next turn. */
#include "http/client.h"

#include "base/text.h"
#include "http/pool.h"
#include "http/setup.h"
#include "io/port.h"

#include <assert.h>
#include <strings.h>
#include <sys/queue.h>

/* Each costs about 60 KB. */
#define IDLE_STREAMS 8
/* Bytes of an answer's heads and trailers. libcurl's own limit omits the trailers. */
#define HEAD_LIMIT ((size_t) 256 * 1024)

TAILQ_HEAD(call_list, http_call);

struct http_client {
	struct loop *loop;
	struct http_pool *short_calls, *streams;
	struct loop_watch *turn; /* a timer: due immediately if there is work */
	struct call_list waiting_calls, waiting_at_once, running;
	struct call_list cancelled; /* while libcurl called us */
	int n_short_running;
	char *user_agent;
};

struct http_call {
	struct http_client *client;
	struct call_list *list; /* of waiting or running calls; NULL: it is ending */
	TAILQ_ENTRY(http_call) link;
	CURL *easy; /* NULL: waiting */
	struct http_setup setup;
	const struct http_request *request; /* of `setup` */

	bool is_running; /* in its pool */
	bool is_ending; /* on_done is being called */
	bool is_cancelled;
	bool was_sent;
	bool has_server_time; /* the answer has a Date, … */
	msec server_ahead; /* … which was this far ahead of our clock */

	size_t head_len;
	struct text body;
	instant heard_at;
	struct loop_watch *output_idle_timer; /* NULL: no limit */
	struct err err; /* why we ended it, if libcurl did not */
	char detail[CURL_ERROR_SIZE];
};

static void on_http_client_timer(void *data);
static void end_transfer(CURL *easy, CURLcode code);

static void list_add(struct call_list *list, struct http_call *call)
{
	call->list = list;
	TAILQ_INSERT_TAIL(list, call, link);
}

static void leave_list(struct http_call *call)
{
	struct call_list *list = TAKE(call->list);

	if (list)
		TAILQ_REMOVE(list, call, link);
}

/* Removes the first call from the list; NULL: it is empty. */
static struct http_call *pop_http_call(struct call_list *list)
{
	struct http_call *call = TAILQ_FIRST(list);

	if (call)
		leave_list(call);
	assert(!call || call != TAILQ_FIRST(list));
	return call;
}

int http_client_new(struct loop *loop, const char *user_agent, struct http_client **ret_client,
		    struct err *err)
{
	/* TLS, and an asynchronous resolver: a hanging name service would stop the loop. */
	const int needed = CURL_VERSION_SSL | CURL_VERSION_ASYNCHDNS;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_UNSUPPORTED, "libcurl does not start");
	if ((curl_version_info(CURLVERSION_NOW)->features & needed) != needed) {
		curl_global_cleanup();
		return err_set(err, ERR_UNSUPPORTED,
			       "this libcurl was built without TLS or without its own resolver");
	}
	struct http_client *client = mem_new(sizeof(*client));

	TAILQ_INIT(&client->waiting_calls);
	TAILQ_INIT(&client->waiting_at_once);
	TAILQ_INIT(&client->running);
	TAILQ_INIT(&client->cancelled);
	client->loop = loop;
	client->user_agent = mem_copy_text(user_agent);
	client->turn = loop_new_timer(loop, on_http_client_timer, client);
	client->short_calls = http_pool_new(loop, end_transfer, 0, false);
	client->streams = http_pool_new(loop, end_transfer, IDLE_STREAMS, false);
	*ret_client = client;
	return 0;
}

static void arm_http_client_timer(struct http_client *client)
{
	loop_timer_arm_after(client->turn, 0);
}

static struct http_pool *pool_of(const struct http_call *call)
{
	return call->request->on_bytes ? call->client->streams : call->client->short_calls;
}

/* Removes the call from its list and its pool, whether the transfer has ended or not. */
static void unlink_http_call(struct http_call *call)
{
	struct http_client *client = call->client;

	leave_list(call);
	if (!call->is_running)
		return;
	http_pool_remove(pool_of(call), call->easy);
	call->is_running = false;
	client->n_short_running -= !call->request->on_bytes;
	if (!TAILQ_EMPTY(&client->waiting_calls))
		arm_http_client_timer(client);
}

static void call_free(struct http_call *call)
{
	unlink_http_call(call);
	loop_watch_free(call->output_idle_timer);
	curl_easy_cleanup(call->easy);
	http_setup_done(&call->setup);
	text_done(&call->body);
	free(call);
}

static void free_all(struct call_list *list)
{
	for (struct http_call *call = TAILQ_FIRST(list), *next; call; call = next) {
		next = TAILQ_NEXT(call, link);
		call_free(call);
	}
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	free_all(&client->waiting_calls);
	free_all(&client->waiting_at_once);
	free_all(&client->running);
	free_all(&client->cancelled);
	http_pool_free(client->short_calls);
	http_pool_free(client->streams);
	loop_watch_free(client->turn);
	free(client->user_agent);
	free(client);
	curl_global_cleanup();
}

static int curl_http_status_of(CURL *easy)
{
	long status = 0;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	return (int) status;
}

/* Called by libcurl; another count than `len` ends the transfer. */
static size_t on_http_call_bytes(char *bytes, size_t size, size_t len, void *data)
{
	struct http_call *call = data;

	(void) size; /* 1 */
	if (call->is_cancelled)
		return 0;
	call->heard_at = loop_monotonic_now();
	int status = curl_http_status_of(call->easy);

	if (call->request->on_bytes && status >= 200 && status < 300) {
		call->request->on_bytes(bytes, len, call->request->data);
		return call->is_cancelled ? 0 : len;
	}
	if (len > call->request->limit - call->body.len) {
		err_set(&call->err, ERR_LIMIT, "the response of %s is larger than %zu bytes",
			call->setup.target.origin, call->request->limit);
		return 0;
	}
	text_add_bytes(&call->body, bytes, len);
	return len;
}

/* Called by libcurl for each line of the answer's heads and trailers. */
static size_t on_response_header(char *line, size_t size, size_t len, void *data)
{
	struct http_call *call = data;
	char *copy CLEANUP(mem_free_text) = mem_copy_bytes(line, len);

	(void) size; /* 1 */
	call->head_len += len;
	if (call->head_len > HEAD_LIMIT) {
		err_set(&call->err, ERR_LIMIT, "the headers of %s are larger than %zu bytes",
			call->setup.target.origin, HEAD_LIMIT);
		return 0;
	}
	if (strncasecmp(copy, "Date:", strlen("Date:")) != 0)
		return len;
	time_t seconds = curl_getdate(copy + strlen("Date:"), NULL);

	call->has_server_time = seconds > 0;
	if (call->has_server_time)
		call->server_ahead = msec_of_seconds(seconds) - loop_now();
	return len;
}

static msec retry_after_of(CURL *easy)
{
	struct curl_header *header;
	curl_off_t seconds = 0;

	if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return -1;
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
	return msec_of_seconds(seconds); /* the date may be past */
}

/* Reports the answer, also with an error: its head is valid, whatever happened to the body. */
static void report_http_response(struct http_call *call, const struct err *err)
{
	long version = 0;

	curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
	const struct http_answer answer = {
		.status = curl_http_status_of(call->easy),
		.body = text_of(&call->body),
		.body_len = call->body.len,
		.retry_after = retry_after_of(call->easy),
		.version = version == CURL_HTTP_VERSION_2_0 ? 2 : 1,
		.call = call,
	};

	call->request->on_done(&answer, err, call->request->data);
}

/* Ends a call: its callback gets the error or the answer. */
static void finish_http_call(struct http_call *call)
{
	unlink_http_call(call);
	call->is_ending = true;
	if (!call->err.code)
		report_http_response(call, NULL);
	else if (call->err.code == ERR_IO && curl_http_status_of(call->easy) >= 200)
		report_http_response(call, &call->err);
	else
		call->request->on_done(NULL, &call->err, call->request->data);
	call_free(call);
}

/* A request that was sent may have taken effect. */
static void set_http_call_lost_error(struct http_call *call)
{
	err_set(&call->err, ERR_IO, "lost %s: it closed the connection without a response",
		call->setup.target.origin);
}

/* The pool's transfer has ended. */
static void end_transfer(CURL *easy, CURLcode code)
{
	char *private;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	struct http_call *call = (struct http_call *) private;

	if (call->is_cancelled) {
		call_free(call);
		return;
	}
	if (code && !call->err.code)
		http_failure_set(&call->err, easy, code, call->setup.target.origin, call->detail);
	/* libcurl lost a connection, and could not open another one to resend the request. */
	if (call->was_sent && code == CURLE_COULDNT_CONNECT)
		set_http_call_lost_error(call);
	finish_http_call(call);
}

static void check_silence(void *data)
{
	struct http_call *call = data;
	msec left =
		call->request->output_idle - instant_since(call->heard_at, loop_monotonic_now());

	if (left > 0) {
		loop_timer_arm_after(call->output_idle_timer, left);
		return;
	}
	struct text output_idle CLEANUP(text_done) = {0};

	text_add_duration(&output_idle, call->request->output_idle);
	err_set(&call->err, ERR_IO, "lost %s: no data for %s", call->setup.target.origin,
		text_of(&output_idle));
	finish_http_call(call);
}

/* Called by libcurl before it sends. After the loss of a reused connection libcurl would resend any
 * request by itself, even a POST. Only the caller may decide that. */
static int allow_request(void *data, char *address, char *own_address, int port, int own_port)
{
	struct http_call *call = data;

	(void) own_address, (void) own_port;
	if (call->is_cancelled) /* during libcurl's work: the caller no longer exists */
		return CURL_PREREQFUNC_ABORT;
	if (call->was_sent) {
		set_http_call_lost_error(call);
		return CURL_PREREQFUNC_ABORT;
	}
	if (call->request->may_send && !call->request->may_send(call->request->data)) {
		err_set(&call->err, ERR_REFUSED, "nothing more was sent to %s",
			call->setup.target.origin);
		return CURL_PREREQFUNC_ABORT;
	}
	if (call->request->has_token && !text_starts_with(call->request->url, "https:") &&
	    port_owner_check(address, port, &call->err) < 0) {
		err_prefix(&call->err, "the token was not sent to %s", call->setup.target.origin);
		return CURL_PREREQFUNC_ABORT;
	}
	call->was_sent = true;
	return CURL_PREREQFUNC_OK;
}

static CURLcode set_callbacks(struct http_call *call)
{
	CURLcode code = curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);

	code = code ? code : curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
	code = code ? code
		    : curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_http_call_bytes);
	code = code ? code : curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
	code = code ? code
		    : curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_response_header);
	code = code ? code : curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->detail);
	code = code ? code : curl_easy_setopt(call->easy, CURLOPT_PREREQDATA, call);
	code = code ? code : curl_easy_setopt(call->easy, CURLOPT_PREREQFUNCTION, allow_request);
	return code;
}

/* A libcurl handle is as large as many requests, so a waiting request has none. */
static int make_handle(struct http_call *call)
{
	call->easy = curl_easy_init();
	if (!call->easy)
		mem_abort();
	int rc = http_setup_apply(&call->setup, call->easy, call->client->user_agent, &call->err);

	if (rc == 0 && set_callbacks(call) != CURLE_OK)
		rc = err_set(&call->err, ERR_UNSUPPORTED, "this libcurl cannot send requests");
	return rc;
}

static void start_http_call(struct http_call *call)
{
	struct http_client *client = call->client;

	if (call->err.code || make_handle(call) < 0) {
		finish_http_call(call);
		return;
	}
	list_add(&client->running, call);
	call->is_running = true;
	client->n_short_running += !call->request->on_bytes;
	call->heard_at = loop_monotonic_now();
	if (call->output_idle_timer)
		loop_timer_arm_after(call->output_idle_timer, call->request->output_idle);
	http_pool_add(pool_of(call), call->easy);
}

static void on_http_client_timer(void *data)
{
	struct http_client *client = data;
	struct http_call *call;

	free_all(&client->cancelled);
	/* Callbacks during the start may add and cancel any call. */
	while ((call = pop_http_call(&client->waiting_at_once)))
		start_http_call(call);
	while (client->n_short_running < HTTP_CALLS_AT_ONCE &&
	       (call = pop_http_call(&client->waiting_calls)))
		start_http_call(call);
}

struct http_call *http_call_new(struct http_client *client, const struct http_request *request)
{
	struct http_call *call = mem_new(sizeof(*call));

	call->client = client;
	call->request = &call->setup.request;
	if (request->output_idle)
		call->output_idle_timer = loop_new_timer(client->loop, check_silence, call);
	/* Errors of the request are reported when the call starts. */
	http_setup_take(&call->setup, request, &call->err);
	list_add(request->on_bytes || request->is_urgent ? &client->waiting_at_once
							 : &client->waiting_calls,
		 call);
	arm_http_client_timer(client);
	return call;
}

void http_call_cancel(struct http_call *call)
{
	if (!call || call->is_ending)
		return;
	if (!call->is_running || !http_pool_is_busy(pool_of(call))) {
		call_free(call);
		return;
	}
	call->is_cancelled = true;
	leave_list(call);
	list_add(&call->client->cancelled, call);
	arm_http_client_timer(call->client);
}

bool http_call_server_time(const struct http_call *call, msec *ret_ahead)
{
	if (call->has_server_time)
		*ret_ahead = call->server_ahead;
	return call->has_server_time;
}

const char *http_answer_header(const struct http_answer *answer, const char *name, size_t index)
{
	struct curl_header *header;

	if (curl_easy_header(answer->call->easy, name, index, CURLH_HEADER, -1, &header) !=
	    CURLHE_OK)
		return NULL;
	return header->value;
}

const char *http_library(void)
{
	return curl_version();
}
