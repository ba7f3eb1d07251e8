/* A call is a row of tries. Each try is one request of io/http_client; how it ended goes into
 * kube/retry.h, and what that says is done here. */
#include "kube/api.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/created.h"
#include "kube/headers.h"
#include "kube/jitter.h"
#include "kube/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct call_list {
	struct kube_call *first;
};

struct kube_api {
	struct loop *loop;
	char *user_agent;
	struct http_client *http;
	struct kube_login *login;
	struct http_trust *trust;
	unsigned n_refreshes;
	bool is_refreshing;
	struct call_list calls; /* all but those that wait for a new credential */
	struct call_list waiting;
	struct kube_warnings warnings;
	kube_permit_fn permit;
	void *permit_data;
};

struct kube_call {
	struct kube_api *api;
	struct call_list *list;
	struct kube_call *previous, *next;
	/* What is asked, with names of our own; its parameters stand in `url` alone. */
	struct kube_request request;
	char *namespace_name, *name, *subresource;
	char *url, *look_url; /* look_url: of the object that is made or patched; NULL: none */
	char *body; /* NULL: none */
	http_bytes_fn on_bytes; /* NULL: no stream */
	msec silence;
	kube_done_fn done;
	void *data;

	struct kube_socket socket; /* protocols are NULL: it is no WebSocket */
	struct http_call *http; /* of the try that is under way; NULL: it waits */
	struct websocket *websocket; /* the same, of a WebSocket */
	struct loop_watch *timer; /* until the next try */
	unsigned refreshes_seen; /* how often the credential of the try had been renewed */
	int n_tries, n_failures;
	bool asked_in_time; /* for a new credential, before the old one ended */
	bool was_refreshed; /* after a 401 */
	bool is_question; /* a create that keeps nothing */
	bool was_lost; /* a try, which may have been done */
	bool is_looking, has_begun, is_paused, is_ending;
};

static void begin_try(void *data);
static void end_try(const struct http_answer *answer, const struct err *err, void *data);
static void end_socket(const struct websocket_end *end, const struct err *err, void *data);

static void join_list(struct call_list *list, struct kube_call *call)
{
	call->list = list;
	call->previous = NULL;
	call->next = list->first;
	if (call->next)
		call->next->previous = call;
	list->first = call;
}

static void leave_list(const struct kube_call *call)
{
	if (!call->list)
		return;
	*(call->list->first == call ? &call->list->first : &call->previous->next) = call->next;
	if (call->next)
		call->next->previous = call->previous;
}

/* Out of the list; NULL: it is empty. */
static struct kube_call *take_first(struct call_list *list)
{
	struct kube_call *call = list->first;

	if (!call)
		return NULL;
	list->first = call->next;
	if (call->next)
		call->next->previous = NULL;
	call->list = NULL;
	return call;
}

static char *user_agent(void)
{
	struct utsname machine;

	return uname(&machine)
		       ? mem_copy_text("muster/" MUSTER_VERSION " (linux)")
		       : mem_format("muster/" MUSTER_VERSION " (linux/%s)", machine.machine);
}

static void take_trust(struct kube_api *api)
{
	const struct kube_login *login = api->login;
	const struct http_trust_parts parts = {
		.authority = login->authority,
		.client_certificate = login->credential.client_certificate,
		.client_key = login->credential.client_key,
		.server_name = login->tls_server_name,
		.skips_verify = login->skips_verify,
	};

	http_trust_free(api->trust);
	api->trust = http_trust_new(&parts);
}

int kube_api_new(struct loop *loop, struct kube_login *take_login, struct kube_api **ret_api,
		 struct err *err)
{
	char *agent CLEANUP(mem_free_text) = user_agent();
	struct http_client *http;
	int rc = http_client_new(loop, agent, &http, err);

	if (rc < 0)
		return rc;
	struct kube_api *api = mem_new(sizeof(*api));

	api->loop = loop;
	api->user_agent = TAKE(agent);
	api->http = http;
	api->login = take_login;
	take_trust(api);
	*ret_api = api;
	return 0;
}

const struct kube_login *kube_api_login(const struct kube_api *api)
{
	return api->login;
}

void kube_api_on_warning(struct kube_api *api, kube_warning_fn fn, void *data)
{
	api->warnings.fn = fn;
	api->warnings.data = data;
}

void kube_api_set_permit(struct kube_api *api, kube_permit_fn fn, void *data)
{
	api->permit = fn;
	api->permit_data = data;
}

/* The address of what a create or a patch is about, without their parameters. */
static char *look_url_of(const struct kube_call *call)
{
	struct kube_request look = call->request;
	struct text url CLEANUP(text_done) = {0};

	look.verb = KUBE_GET;
	look.name = kube_request_name(&call->request);
	look.parameters = NULL;
	bool is_looked_for = call->request.verb == KUBE_CREATE || call->request.verb == KUBE_PATCH;

	if (!is_looked_for || call->request.subresource || !look.name)
		return NULL;
	kube_request_add_url(&url, &look, call->api->login->server,
			     call->api->login->namespace_name);
	return text_take(&url);
}

static void take_request(struct kube_call *call, const struct kube_request *request)
{
	const struct kube_login *login = call->api->login;
	struct text url CLEANUP(text_done) = {0}, body CLEANUP(text_done) = {0};

	kube_request_add_url(&url, request, login->server, login->namespace_name);
	call->url = text_take(&url);
	call->request = *request;
	call->look_url = look_url_of(call);
	call->is_question = kube_request_is_question(request);
	call->name = mem_copy_text(kube_request_name(request));
	call->namespace_name =
		mem_copy_text(kube_request_namespace(request, login->namespace_name));
	call->subresource = mem_copy_text(request->subresource);
	if (request->body) {
		json_add_compact(&body, request->body);
		call->body = text_take(&body);
	}
	call->request.name = call->name;
	call->request.namespace_name = call->namespace_name;
	call->request.subresource = call->subresource;
	call->request.parameters = NULL;
	call->request.body = NULL;
}

struct kube_call *kube_stream_new(struct kube_api *api, const struct kube_request *request,
				  msec silence, http_bytes_fn bytes, kube_done_fn done, void *data)
{
	struct kube_call *call = mem_new(sizeof(*call));

	call->api = api;
	call->on_bytes = bytes;
	call->silence = silence;
	call->done = done;
	call->data = data;
	join_list(&api->calls, call);
	take_request(call, request);
	call->timer = loop_new_timer(api->loop, begin_try, call);
	loop_timer_arm(call->timer, loop_now());
	return call;
}

struct kube_call *kube_call_new(struct kube_api *api, const struct kube_request *request,
				kube_done_fn done, void *data)
{
	return kube_stream_new(api, request, 0, NULL, done, data);
}

struct kube_call *kube_socket_new(struct kube_api *api, const struct kube_request *request,
				  const struct kube_socket *socket, kube_done_fn done, void *data)
{
	struct kube_call *call = kube_stream_new(api, request, 0, NULL, done, data);

	call->socket = *socket;
	return call;
}

struct websocket *kube_call_websocket(const struct kube_call *call)
{
	return call->websocket;
}

static void call_free(struct kube_call *call)
{
	leave_list(call);
	http_call_cancel(call->http);
	websocket_cancel(call->websocket);
	loop_watch_free(call->timer);
	free(call->namespace_name);
	free(call->name);
	free(call->subresource);
	free(call->url);
	free(call->look_url);
	free(call->body);
	free(call);
}

static void free_all(struct call_list *list)
{
	for (struct kube_call *call; (call = take_first(list));)
		call_free(call);
}

void kube_api_free(struct kube_api *api)
{
	if (!api)
		return;
	free_all(&api->calls);
	free_all(&api->waiting);
	http_client_free(api->http);
	kube_login_free(api->login);
	http_trust_free(api->trust);
	kube_warnings_done(&api->warnings);
	free(api->user_agent);
	free(api);
}

void kube_call_cancel(struct kube_call *call)
{
	if (call && !call->is_ending)
		call_free(call);
}

void kube_call_pause(struct kube_call *call)
{
	call->is_paused = true;
	if (call->http)
		http_call_pause(call->http);
}

void kube_call_resume(struct kube_call *call)
{
	call->is_paused = false;
	if (call->http)
		http_call_resume(call->http);
}

static void finish(struct kube_call *call, struct json *object, const struct kube_status *status,
		   const struct err *err)
{
	call->is_ending = true;
	call->done(object, status, err, call->data);
	call_free(call);
}

static void fail(struct kube_call *call, const struct err *err)
{
	const struct kube_status status = {.retry_after = -1};

	finish(call, NULL, &status, err);
}

/* Those that waited for the credential go on, or fail with it. What is called may end others. */
static void end_refresh(const struct err *err, void *data)
{
	struct kube_api *api = data;
	struct kube_call *call;

	api->is_refreshing = false;
	if (!err) {
		api->n_refreshes++;
		take_trust(api);
	}
	while ((call = take_first(&api->waiting))) {
		join_list(&api->calls, call);
		if (err)
			fail(call, err);
		else
			loop_timer_arm(call->timer, loop_now());
	}
}

static void refresh(struct kube_call *call, bool was_refused)
{
	struct kube_api *api = call->api;

	leave_list(call);
	join_list(&api->waiting, call);
	if (api->is_refreshing)
		return;
	api->is_refreshing = true;
	api->login->refresh(api->login, was_refused, end_refresh, api);
}

/* A credential that ends soon is renewed before it is used; once, should the new one end soon as
 * well. */
static bool needs_refresh(const struct kube_call *call)
{
	const struct kube_login *login = call->api->login;

	return login->refresh && loop_now() >= login->refresh_at && !call->asked_in_time;
}

static void take_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_call *call = data;

	call->has_begun = true;
	call->on_bytes(bytes, len, call->data);
}

static void add_headers(const struct kube_call *call, struct kube_headers *headers)
{
	const char *content_type = kube_request_content_type(&call->request);

	kube_headers_add(headers, "Accept",
			 call->on_bytes && call->subresource ? "*/*" : "application/json");
	if (call->body && !call->is_looking)
		kube_headers_add(headers, "Content-Type", content_type);
	kube_headers_add_login(headers, call->api->login);
}

static void send_request(struct kube_call *call)
{
	struct kube_headers headers CLEANUP(kube_headers_done) = {0};
	const char *body = call->is_looking ? NULL : call->body;

	add_headers(call, &headers);
	const struct http_request request = {
		.method = call->is_looking ? "GET" : kube_request_method(&call->request),
		.url = call->is_looking ? call->look_url : call->url,
		.headers = (const char *const *) headers.lines,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.trust = call->api->trust,
		.proxy = call->api->login->proxy,
		.takes_compressed = !call->api->login->skips_compression && !call->on_bytes,
		.on_bytes = call->on_bytes ? take_bytes : NULL,
		.on_done = end_try,
		.data = call,
		.connect_timeout = call->api->login->timeout,
		.timeout = call->on_bytes ? 0 : call->api->login->timeout,
		.silence = call->silence,
	};

	call->http = http_call_new(call->api->http, &request);
	if (call->is_paused)
		http_call_pause(call->http);
}

static void open_socket(const char *protocol, void *data)
{
	struct kube_call *call = data;

	call->has_begun = true;
	call->socket.on_open(protocol, call->data);
}

static void take_message(const char *bytes, size_t len, void *data)
{
	const struct kube_call *call = data;

	call->socket.on_message(bytes, len, call->data);
}

static void tell_room(void *data)
{
	const struct kube_call *call = data;

	if (call->socket.on_room)
		call->socket.on_room(call->data);
}

static void begin_socket(struct kube_call *call)
{
	struct kube_headers headers CLEANUP(kube_headers_done) = {0};

	kube_headers_add_login(&headers, call->api->login);
	const struct websocket_request request = {
		.http = {.url = call->url,
			 .headers = (const char *const *) headers.lines,
			 .trust = call->api->trust,
			 .proxy = call->api->login->proxy,
			 .silence = call->socket.silence},
		.user_agent = call->api->user_agent,
		.protocols = call->socket.protocols,
		.on_open = open_socket,
		.on_message = take_message,
		.on_room = tell_room,
		.on_end = end_socket,
		.data = call,
	};

	call->websocket = websocket_new(call->api->loop, &request);
}

static bool is_permitted(const struct kube_call *call)
{
	const struct kube_api *api = call->api;
	enum kube_verb verb = call->request.verb;

	return !api->permit || verb == KUBE_GET || verb == KUBE_LIST || verb == KUBE_WATCH ||
	       api->permit(&call->request, api->permit_data);
}

static void refuse(struct kube_call *call)
{
	struct text object CLEANUP(text_done) = {0};
	struct err err = {0};

	kube_request_add_object(&object, &call->request);
	err_set(&err, ERR_REFUSED, "the Lease of the job is not held here, so %s is left as it is",
		text_of(&object));
	fail(call, &err);
}

static void begin_try(void *data)
{
	struct kube_call *call = data;

	if (!is_permitted(call)) {
		refuse(call);
		return;
	}
	if (needs_refresh(call)) {
		call->asked_in_time = true;
		refresh(call, false);
		return;
	}
	call->refreshes_seen = call->api->n_refreshes;
	call->n_tries++;
	if (call->socket.protocols)
		begin_socket(call);
	else
		send_request(call);
}

static struct kube_retry decide(const struct kube_call *call, const struct kube_status *status,
				bool is_lost)
{
	const struct kube_outcome outcome = {
		/* A stream is its caller's to begin anew. */
		.verb = call->socket.protocols ? KUBE_CREATE
			: call->on_bytes       ? KUBE_WATCH
			: call->is_looking     ? KUBE_GET
					       : call->request.verb,
		.has_name = call->look_url,
		.is_question = call->is_question,
		.n_tries = call->n_tries,
		.n_failures = call->n_failures,
		.was_refreshed = call->was_refreshed,
		.can_refresh = call->api->login->refresh,
		.is_lost = is_lost,
		.was_lost = call->was_lost,
		.status = *status,
	};

	return kube_retry_decide(&outcome, kube_jitter());
}

/* Tries again, or ends well, as the rules say; false when they say no. */
static bool goes_on(struct kube_call *call, const struct kube_status *status, bool is_lost)
{
	const struct kube_status done = {.code = 200, .retry_after = -1};

	call->n_failures += !kube_asks_to_wait(status);
	struct kube_retry retry = decide(call, status, is_lost);

	if (retry.action == KUBE_GIVE_UP || call->has_begun)
		return false;
	if (retry.action == KUBE_WAS_DONE) {
		finish(call, NULL, &done, NULL);
		return true;
	}
	call->was_lost |= is_lost || status->code >= 500;
	if (retry.action == KUBE_REFRESH) {
		call->was_refreshed = true;
		call->n_tries--;
		if (call->refreshes_seen == call->api->n_refreshes) {
			refresh(call, true);
			return true;
		}
	}
	call->is_looking |= retry.action == KUBE_LOOK_FIRST;
	loop_timer_arm(call->timer, loop_now() + retry.wait);
	return true;
}

static bool is_what_was_sent(const struct kube_call *call, const struct json *found)
{
	struct json *sent CLEANUP(json_cleanup) = NULL;

	if (json_read(call->body, strlen(call->body), &sent, NULL) < 0)
		return false;
	return call->request.verb == KUBE_CREATE ? kube_was_created(sent, found)
						 : kube_was_patched(sent, found);
}

/* The object that was looked for is there: as we made it, or as somebody else did. */
static void settle(struct kube_call *call, struct json *found, const struct kube_status *status)
{
	bool is_create = call->request.verb == KUBE_CREATE;
	struct kube_status conflict = {.code = 409, .retry_after = -1};
	struct err err = {0};

	if (is_what_was_sent(call, found)) {
		finish(call, found, status, NULL);
		return;
	}
	snprintf(conflict.reason, sizeof(conflict.reason), "%s",
		 is_create ? "AlreadyExists" : "Conflict");
	err_set(&err, is_create ? ERR_EXISTS : ERR_CONFLICT,
		"cannot %s %s '%s' in namespace '%s': %s", kube_verb_word(call->request.verb),
		call->request.resource->plural, call->name, call->namespace_name,
		is_create ? "it exists already" : "somebody else changed it");
	finish(call, NULL, &conflict, &err);
}

static void take_success(struct kube_call *call, const struct http_answer *answer)
{
	const struct kube_status status = {.code = answer->status, .retry_after = -1};
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (!call->on_bytes && answer->body_len &&
	    json_read(answer->body, answer->body_len, &object, &err) < 0) {
		err_prefix(&err, "cannot understand %s", call->api->login->server);
		finish(call, NULL, &status, &err);
	} else if (call->is_looking) {
		settle(call, object, &status);
	} else {
		finish(call, object, &status, NULL);
	}
}

/* What was looked for is not there: it was not created, so it is created now. */
static bool creates_now(struct kube_call *call, const struct kube_status *status)
{
	if (!call->is_looking || call->request.verb != KUBE_CREATE || status->code != 404)
		return false;
	call->is_looking = false;
	loop_timer_arm(call->timer, loop_now());
	return true;
}

static void take_refusal(struct kube_call *call, const struct http_answer *answer)
{
	struct kube_status status;
	struct err err = {0};

	kube_status_read(&call->request, call->namespace_name, answer->status, answer->body,
			 answer->body_len, &status, &err);
	if (answer->retry_after >= 0)
		status.retry_after = answer->retry_after;
	if (!creates_now(call, &status) && !goes_on(call, &status, false))
		finish(call, NULL, &status, &err);
}

/* What was lost on the way and is not tried again was not reached, for who called. */
static void take_loss(struct kube_call *call, const struct err *err)
{
	const struct kube_status status = {.retry_after = -1};
	bool is_lost = err->code == ERR_IO;
	struct err lost = *err;

	if (goes_on(call, &status, is_lost))
		return;
	if (is_lost)
		lost.code = ERR_UNREACHABLE;
	finish(call, NULL, &status, &lost);
}

/* Whether its code says it all, though the body was lost: API servers close the connection behind a
 * 401, and libcurl may miss what came before. */
static bool is_said_by_code(const struct http_answer *answer)
{
	return answer && (answer->status == 401 || answer->status == 429);
}

static void end_try(const struct http_answer *answer, const struct err *err, void *data)
{
	struct kube_call *call = data;

	call->http = NULL;
	if (err && !is_said_by_code(answer)) {
		take_loss(call, err);
		return;
	}
	kube_warnings_take(&call->api->warnings, answer);
	if (answer->status >= 200 && answer->status < 300)
		take_success(call, answer);
	else
		take_refusal(call, answer);
}

/* A refusal is an answer of HTTP like any other; behind 101 there is none. */
static void end_socket(const struct websocket_end *end, const struct err *err, void *data)
{
	struct kube_call *call = data;
	const struct kube_status status = {.code = end->status, .retry_after = -1};
	const struct http_answer answer = {
		.status = end->status,
		.body = end->body,
		.body_len = end->body_len,
		.retry_after = -1,
	};

	call->websocket = NULL;
	if (err)
		take_loss(call, err);
	else if (call->has_begun)
		finish(call, NULL, &status, NULL);
	else
		take_refusal(call, &answer);
}
