/* Adds what evhttp of libevent 2.1 leaves to its user: a limit of connections, a deadline for each,
 * and detection of a caller that hangs up while its call is held.
 *
 * evhttp reports no connection before its first request. So each stream is created here
 * (make_stream). It becomes our connection soon after (adopt), when evhttp has passed its own
 * connection as the argument of its callbacks. */
#include "http/server.h"

#include "base/mem.h"
#include "http/certificate.h"
#include "http/framing.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/listener.h>
#include <poll.h>
#include <sys/queue.h>
#include <sys/time.h>

#define STATUS_OUR_FAULT 500
#define LIMIT_KEPT ((size_t) 8 * 1024 * 1024) /* bytes of all incomplete requests */
#define LIMIT_HANDSHAKES 1024 /* unfinished ones of TLS, of up to 70 kB each */
#define ACCEPTED_IN_A_TURN 64 /* of the loop, which then serves others, too */
#define ONE_WRITE 8192 /* bytes that a write to an empty socket never splits */

static const struct method {
	enum evhttp_cmd_type command;
	const char *word;
} methods[] = {
	{EVHTTP_REQ_GET, "GET"},         {EVHTTP_REQ_HEAD, "HEAD"},     {EVHTTP_REQ_POST, "POST"},
	{EVHTTP_REQ_PUT, "PUT"},         {EVHTTP_REQ_DELETE, "DELETE"}, {EVHTTP_REQ_PATCH, "PATCH"},
	{EVHTTP_REQ_OPTIONS, "OPTIONS"},
};

struct connection {
	struct http_server *server;
	struct http_framing *framing;
	struct evhttp_connection *http;
	evutil_socket_t fd;
	struct event *deadline;
	bool is_waiting; /* for a request, … */
	TAILQ_ENTRY(connection) next_waiting; /* … in this list */
	bool is_shaking_hands; /* with TLS, or its first request is incomplete */
	TAILQ_ENTRY(connection) next_shaking_hands;
	struct http_call *call; /* NULL: none, or already answered */
	char *path; /* of the last marked call, for on_end; NULL: its end is not reported */
};

struct http_call {
	struct connection *connection;
	struct evhttp_request *request;
	struct event *hang_up; /* NULL: not held */
	http_call_fn on_gone;
	http_call_fn on_taken; /* NULL: its answer has not begun */
	void *data;
};

/* A connection before it is adopted. */
struct newcomer {
	struct bufferevent *stream;
	struct http_framing *framing;
};

struct http_server {
	struct http_server_settings settings;
	struct http_framing_rules framing;
	struct event_base *base;
	struct evhttp *http;
	struct evconnlistener *listener;
	const struct timeval *patience;
	bool is_on_loopback;
	struct loop_watch *pause; /* until the next try to accept */
	struct loop_watch *adoption;
	struct newcomer *newcomers;
	size_t n_newcomers;
	size_t newcomers_capacity;
	struct connection **connections; /* by descriptor */
	size_t n_descriptors;
	size_t n_connections; /* including new ones */
	TAILQ_HEAD(, connection) waiting, shaking_hands; /* the longest first */
	size_t n_shaking_hands;
	int n_accepted; /* in this turn of the loop */
	bool is_full; /* accepts none: each connection has an unanswered request, or in this turn */
	bool is_ending;
	SLIST_ENTRY(http_server) next; /* of all_servers */
};

/* evhttp replaces the argument of the listener's callbacks by its own, also for errors. */
static SLIST_HEAD(, http_server) all_servers;

/* Connections. */

/* NULL: each has an unanswered request. */
static struct connection *longest_waiting(const struct http_server *server)
{
	return TAILQ_FIRST(&server->waiting);
}

static void end_to_wait(struct connection *connection)
{
	if (connection->is_waiting)
		TAILQ_REMOVE(&connection->server->waiting, connection, next_waiting);
	connection->is_waiting = false;
}

static void end_handshake(struct connection *connection)
{
	if (!connection->is_shaking_hands)
		return;
	TAILQ_REMOVE(&connection->server->shaking_hands, connection, next_shaking_hands);
	connection->server->n_shaking_hands--;
	connection->is_shaking_hands = false;
}

/* Accepts one more connection if a silent one can be closed for it: they do not keep out others. */
static void mind_limit(struct http_server *server)
{
	bool was_full = server->is_full;

	server->is_full = server->n_accepted >= ACCEPTED_IN_A_TURN ||
			  (server->n_connections >= server->settings.connection_limit &&
			   !longest_waiting(server));
	if (server->is_ending || server->is_full == was_full)
		return;
	if (server->is_full)
		evconnlistener_disable(server->listener);
	else
		evconnlistener_enable(server->listener);
}

/* A member finishes its handshake, and sends its request, before those that come after it in a few
 * turns of the loop have taken its place. An attacker's handshakes only take each other's. */
static void make_room(struct http_server *server)
{
	struct connection *waiting = longest_waiting(server);

	if (server->n_connections > server->settings.connection_limit && waiting)
		evhttp_connection_free(waiting->http);
	if (server->n_shaking_hands >= LIMIT_HANDSHAKES)
		evhttp_connection_free(TAILQ_FIRST(&server->shaking_hands)->http);
}

static void count_down(struct http_server *server)
{
	server->n_connections--;
	mind_limit(server);
}

/* Drops the call; `on_gone` must not be called through it again. */
static void free_server_call(struct http_call *call)
{
	call->connection->call = NULL;
	if (call->hang_up)
		event_free(call->hang_up);
	free(call);
}

static void on_closed(struct evhttp_connection *http, void *data)
{
	struct connection *connection = data;
	struct http_call *call = connection->call;
	struct http_server *server = connection->server;

	(void) http;
	if (call && call->on_gone)
		call->on_gone(call, call->data);
	else if (connection->path && !server->is_ending)
		server->settings.on_end(connection->path, server->settings.data);
	/* After a failed write the request of a chunked answer is left to us. */
	if (call && !evhttp_request_get_connection(call->request))
		evhttp_request_free(call->request);
	if (call)
		free_server_call(call);
	end_to_wait(connection);
	end_handshake(connection);
	server->connections[connection->fd] = NULL;
	http_framing_free(connection->framing);
	event_free(connection->deadline);
	free(connection->path);
	free(connection);
	count_down(server);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	const struct connection *connection = data;

	(void) fd;
	(void) what;
	evhttp_connection_free(connection->http);
}

static void begin_to_wait(struct connection *connection)
{
	end_to_wait(connection);
	TAILQ_INSERT_TAIL(&connection->server->waiting, connection, next_waiting);
	connection->is_waiting = true;
	event_add(connection->deadline, connection->server->patience);
	mind_limit(connection->server);
}

static void store_server_connection(struct http_server *server, struct connection *connection)
{
	size_t needed = (size_t) connection->fd + 1;

	if (needed > server->n_descriptors) {
		size_t count = needed * 2;

		server->connections =
			mem_resize(server->connections, count, sizeof(struct connection *));
		for (size_t i = server->n_descriptors; i < count; i++)
			server->connections[i] = NULL;
		server->n_descriptors = count;
	}
	server->connections[connection->fd] = connection;
}

/* If evhttp has freed a stream meanwhile, its callbacks are unset. */
static void adopt(struct http_server *server, const struct newcomer *newcomer)
{
	void *http = NULL;

	bufferevent_getcb(newcomer->stream, NULL, NULL, NULL, &http);
	if (!http) {
		http_framing_free(newcomer->framing);
		count_down(server);
		return;
	}
	struct connection *connection = mem_new(sizeof(*connection));

	*connection = (struct connection){.server = server,
					  .framing = newcomer->framing,
					  .http = http,
					  .fd = bufferevent_getfd(newcomer->stream)};
	connection->deadline = event_new(server->base, -1, 0, on_deadline, connection);
	store_server_connection(server, connection);
	evhttp_connection_set_closecb(connection->http, on_closed, connection);
	begin_to_wait(connection);
	if (!server->settings.tls)
		return;
	TAILQ_INSERT_TAIL(&server->shaking_hands, connection, next_shaking_hands);
	server->n_shaking_hands++;
	connection->is_shaking_hands = true;
}

static void adopt_all(struct http_server *server)
{
	for (size_t i = 0; i < server->n_newcomers; i++) {
		adopt(server, &server->newcomers[i]);
		bufferevent_decref(server->newcomers[i].stream);
	}
	server->n_newcomers = 0;
}

static void on_adoption(void *data)
{
	struct http_server *server = data;

	adopt_all(server);
	server->n_accepted = 0;
	mind_limit(server);
}

static size_t input_limit_of(const struct http_server *server)
{
	return server->settings.header_limit + server->settings.body_limit;
}

/* Called before any byte of the stream is read. Its input buffer is also limited to the size of a
 * request, so that endless input waits in the kernel. */
static struct bufferevent *make_stream(struct event_base *base, void *data)
{
	struct http_server *server = data;
	const struct http_server_settings *settings = &server->settings;

	adopt_all(server);
	struct bufferevent *stream = settings->tls ? settings->tls->new_stream(settings->tls, base)
						   : bufferevent_socket_new(base, -1, 0);

	if (!stream)
		mem_abort();
	bufferevent_setwatermark(stream, EV_READ, 0, input_limit_of(server));
	bufferevent_incref(stream);
	mem_grow(&server->newcomers, &server->newcomers_capacity, server->n_newcomers,
		 sizeof(*server->newcomers));
	server->newcomers[server->n_newcomers++] = (struct newcomer){
		.stream = stream,
		.framing = http_framing_new(&server->framing, bufferevent_get_input(stream))};
	loop_timer_arm_after(server->adoption, 0);
	server->n_connections++;
	server->n_accepted++;
	make_room(server);
	mind_limit(server);
	return stream;
}

static struct http_server *server_of(const struct evconnlistener *listener)
{
	struct http_server *server = SLIST_FIRST(&all_servers);

	while (server->listener != listener)
		server = SLIST_NEXT(server, next);
	return server;
}

/* No descriptor or kernel memory is left. A silent connection is closed for the new one, as at the
 * limit of connections. Without any, the new one stays pending, so the loop would spin. (Linux
 * also reports this when no new one is pending: then one descriptor becomes free.) */
static void on_accept_failed(struct evconnlistener *listener, void *evhttp_data)
{
	struct http_server *server = server_of(listener);
	struct connection *waiting = longest_waiting(server);

	(void) evhttp_data;
	if (waiting) {
		evhttp_connection_free(waiting->http);
		return;
	}
	evconnlistener_disable(listener);
	loop_timer_arm_after(server->pause, MSEC_PER_SECOND);
}

static void on_pause_over(void *data)
{
	struct http_server *server = data;

	if (!server->is_full)
		evconnlistener_enable(server->listener);
}

/* Calls. */

static void on_request(struct evhttp_request *request, void *data)
{
	struct http_server *server = data;
	const struct http_refusal refusal =
		http_refusal_of(request, server->settings.hosts, server->is_on_loopback);

	adopt_all(server);
	if (refusal.status) {
		/* Also closes the connection, so that bytes after the request are not read. evhttp
		 * itself would not do so for a request with a host in its target. */
		request->flags &= ~EVHTTP_PROXY_REQUEST;
		request->major = request->minor = 1;
		evhttp_send_error(request, refusal.status, refusal.reason);
		return;
	}
	struct bufferevent *stream =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
	struct connection *connection = server->connections[bufferevent_getfd(stream)];
	struct http_call *call = mem_new(sizeof(*call));

	*call = (struct http_call){.connection = connection, .request = request};
	connection->call = call;
	end_to_wait(connection);
	end_handshake(connection);
	mind_limit(server);
	free(TAKE(connection->path));
	server->settings.on_call(call, server->settings.data);
	if (connection->call == call && !call->hang_up)
		http_call_answer(call, STATUS_OUR_FAULT, "text/plain", "", 0);
}

const char *http_call_method(const struct http_call *call)
{
	enum evhttp_cmd_type command = evhttp_request_get_command(call->request);

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (methods[i].command == command)
			return methods[i].word;
	return ""; /* evhttp rejects them */
}

const char *http_call_path(const struct http_call *call)
{
	const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(call->request));

	return path ? path : "";
}

const char *http_call_query(const struct http_call *call)
{
	return evhttp_uri_get_query(evhttp_request_get_evhttp_uri(call->request));
}

const char *http_call_peer(const struct http_call *call)
{
	char *address = NULL;
	ev_uint16_t port;

	evhttp_connection_get_peer(call->connection->http, &address, &port);
	return address ? address : "";
}

const char *http_call_header(const struct http_call *call, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(call->request), name);
}

bool http_call_is_from_browser(const struct http_call *call)
{
	return http_is_from_browser(call->request);
}

const void *http_call_body(struct http_call *call, size_t *ret_len)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(call->request);

	*ret_len = evbuffer_get_length(body);
	return evbuffer_pullup(body, -1);
}

/* During an answer in pieces, evhttp reads, and its events make the descriptor level-triggered:
 * bytes that find no room would be reported forever. */
static bool is_flooded(const struct http_call *call)
{
	struct bufferevent *stream = evhttp_connection_get_bufferevent(call->connection->http);

	return call->on_taken && evbuffer_get_length(bufferevent_get_input(stream)) >=
					 input_limit_of(call->connection->server);
}

/* Bytes arrived. They may be more requests; only an end matters, or a flood. */
static void on_maybe_hang_up(evutil_socket_t fd, short what, void *data)
{
	struct http_call *call = data;
	struct pollfd seen = {.fd = fd, .events = POLLRDHUP};

	(void) what;
	if (poll(&seen, 1, 0) > 0 || is_flooded(call))
		evhttp_connection_free(call->connection->http);
}

/* evhttp reads nothing while it waits for an answer, so the descriptor is watched only for its end.
 * The watch is edge-triggered, because there may be unread bytes. It includes EV_READ, because
 * libevent reports a reset that way. */
void http_call_hold(struct http_call *call, http_call_fn on_gone, void *data)
{
	struct connection *connection = call->connection;

	call->on_gone = on_gone;
	call->data = data;
	if (call->hang_up)
		return;
	call->hang_up = event_new(connection->server->base, connection->fd,
				  EV_READ | EV_CLOSED | EV_ET | EV_PERSIST, on_maybe_hang_up, call);
	event_add(call->hang_up, NULL);
	event_del(connection->deadline);
}

void http_call_report_end(struct http_call *call)
{
	struct connection *connection = call->connection;

	free(connection->path);
	connection->path = mem_copy_text(http_call_path(call));
}

void http_call_add_header(struct http_call *call, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(call->request), name, value);
}

static void on_sent(struct evhttp_request *request, void *data)
{
	(void) request;
	begin_to_wait(data);
}

/* evhttp drops an answer when it reads end of input before all is written, and a caller that has
 * sent all may have shut down its sending side. */
static void start_answer_deadline(struct connection *connection)
{
	event_add(connection->deadline, connection->server->patience);
	bufferevent_disable(evhttp_connection_get_bufferevent(connection->http), EV_READ);
}

static bool wants_head_alone(const struct http_call *call)
{
	return evhttp_request_get_command(call->request) == EVHTTP_REQ_HEAD;
}

struct http_body {
	char *bytes;
	size_t len;
	int n_users; /* its creator, and the calls that have yet to read it */
};

struct http_body *http_body_new(const void *bytes, size_t len)
{
	struct http_body *body = mem_new(sizeof(*body));

	body->bytes = mem_copy_bytes(bytes, len);
	body->len = len;
	body->n_users = 1;
	return body;
}

void http_body_free(struct http_body *body)
{
	if (!body || --body->n_users)
		return;
	free(body->bytes);
	free(body);
}

static void on_body_taken(const void *bytes, size_t len, void *data)
{
	(void) bytes;
	(void) len;
	http_body_free(data);
}

/* The request's output buffer has the body, unless only the head is requested. */
static void send_http_answer(struct http_call *call, int status, const char *type, size_t len)
{
	struct connection *connection = call->connection;
	struct evhttp_request *request = call->request;
	bool takes_time = call->hang_up || len > ONE_WRITE;
	char *length CLEANUP(mem_free_text) = mem_format("%zu", len);

	http_call_add_header(call, "Content-Type", type);
	if (wants_head_alone(call))
		http_call_add_header(call, "Content-Length", length); /* else that of the body */
	free_server_call(call);
	evhttp_request_set_on_complete_cb(request, on_sent, connection);
	evhttp_send_reply(request, status, NULL, NULL);
	if (takes_time)
		start_answer_deadline(connection);
}

void http_call_answer(struct http_call *call, int status, const char *type, const void *bytes,
		      size_t len)
{
	if (!wants_head_alone(call))
		evbuffer_add(evhttp_request_get_output_buffer(call->request), bytes, len);
	send_http_answer(call, status, type, len);
}

void http_call_answer_body(struct http_call *call, int status, const char *type,
			   struct http_body *body)
{
	struct evbuffer *output = evhttp_request_get_output_buffer(call->request);

	if (!wants_head_alone(call) &&
	    evbuffer_add_reference(output, body->bytes, body->len, on_body_taken, body) == 0)
		body->n_users++;
	send_http_answer(call, status, type, body->len);
}

/* Answers in pieces. evhttp sends chunks, and to HTTP/1.0 callers until the connection ends. */

static void on_taken(struct evhttp_connection *http, void *data)
{
	struct connection *connection = data;
	struct http_call *call = connection->call;

	(void) http;
	event_del(connection->deadline);
	if (call)
		call->on_taken(call, call->data);
}

void http_call_begin(struct http_call *call, int status, const char *type, http_call_fn taken)
{
	assert(call->hang_up && !call->on_taken);
	call->on_taken = taken;
	http_call_add_header(call, "Content-Type", type);
	evhttp_send_reply_start(call->request, status, NULL);
}

void http_call_send(struct http_call *call, const void *bytes, size_t len)
{
	struct connection *connection = call->connection;
	struct evbuffer *piece;

	if (len == 0)
		return;
	piece = evbuffer_new();
	if (!piece || evbuffer_add(piece, bytes, len) < 0)
		mem_abort();
	if (!event_pending(connection->deadline, EV_TIMEOUT, NULL))
		event_add(connection->deadline, connection->server->patience);
	evhttp_send_reply_chunk_with_cb(call->request, piece, on_taken, connection);
	evbuffer_free(piece);
}

size_t http_call_waiting(const struct http_call *call)
{
	struct bufferevent *stream = evhttp_connection_get_bufferevent(call->connection->http);

	return evbuffer_get_length(bufferevent_get_output(stream));
}

void http_call_end(struct http_call *call)
{
	struct connection *connection = call->connection;
	struct evhttp_request *request = call->request;

	free_server_call(call);
	evhttp_request_set_on_complete_cb(request, on_sent, connection);
	evhttp_send_reply_end(request);
	start_answer_deadline(connection);
}

/* The server. */

static void configure(struct http_server *server)
{
	const struct http_server_settings *settings = &server->settings;
	struct evhttp *http = server->http;
	ev_uint16_t allowed = 0;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		allowed |= methods[i].command;
	evhttp_set_allowed_methods(http, allowed);
	evhttp_set_default_content_type(http, NULL);
	evhttp_set_max_headers_size(http, (ev_ssize_t) settings->header_limit);
	evhttp_set_max_body_size(http, (ev_ssize_t) settings->body_limit);
	evhttp_set_bevcb(http, make_stream, server);
	evhttp_set_gencb(http, on_request, server);
}

const char *const http_local_hosts[] = {"localhost", NULL};

const char *const *http_hosts_of(const struct listening *listening)
{
	return listening_is_loopback(listening->fd) ? http_local_hosts : NULL;
}

int http_server_new(struct loop *loop, const struct http_server_settings *settings,
		    struct http_server **ret_server, struct err *err)
{
	const struct timeval patience = {.tv_sec = (time_t) (settings->patience / MSEC_PER_SECOND)};
	struct event_base *base = loop_base(loop);
	struct evconnlistener *listener = evconnlistener_new(
		base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, settings->listening->fd);

	assert(settings->connection_limit > 0 && patience.tv_sec > 0);
	if (!listener)
		return err_set(err, ERR_IO, "cannot listen on %s", settings->listening->address);
	struct http_server *server = mem_new(sizeof(*server));

	server->settings = *settings;
	server->framing = (struct http_framing_rules){
		.header_limit = settings->header_limit,
		.body_limit = settings->body_limit,
		.kept_limit = LIMIT_KEPT,
		.access = settings->access,
	};
	TAILQ_INIT(&server->framing.incomplete);
	TAILQ_INIT(&server->waiting);
	TAILQ_INIT(&server->shaking_hands);
	server->base = base;
	server->listener = listener;
	server->is_on_loopback = listening_is_loopback(settings->listening->fd);
	/* One queue for all connections, which have the same timeout, instead of a heap. */
	server->patience = event_base_init_common_timeout(base, &patience);
	server->pause = loop_new_timer(loop, on_pause_over, server);
	server->adoption = loop_new_timer(loop, on_adoption, server);
	server->http = evhttp_new(base);
	configure(server);
	evhttp_bind_listener(server->http, listener);
	evconnlistener_set_error_cb(listener, on_accept_failed);
	SLIST_INSERT_HEAD(&all_servers, server, next);
	*ret_server = server;
	return 0;
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	SLIST_REMOVE(&all_servers, server, http_server, next);
	server->is_ending = true;
	adopt_all(server);
	evhttp_free(server->http);
	loop_watch_free(server->pause);
	loop_watch_free(server->adoption);
	free(server->newcomers);
	free(server->connections);
	free(server);
}

size_t http_server_connections(const struct http_server *server)
{
	return server->n_connections;
}
