/* A call is a series of tries. Each try is one request of http/client or one WebSocket;
 * kube/retry.h decides what follows its end. */
#include "base/mem.h"
#include "base/text.h"
#include "io/random.h"
#include "kube/api_calls.h"
#include "kube/frames.h"
#include "kube/retry.h"
#include "spec/elasticdl.h"

#include <stdio.h>

#define SWITCHING_PROTOCOLS 101

/* The end of a try: another one follows, or the call ends. */

/* The API's permit was denied. */
static void refuse(struct kube_call *call)
{
	struct text object CLEANUP(text_done) = {0};
	struct err err = {0};

	kube_request_add_object(&object, &call->request);
	err_set(&err, ERR_REFUSED,
		"this muster does not hold the job's Lease, so it does not change %s",
		text_of(&object));
	kube_call_fail(call, &err);
}

/* Reads the server's clock from the head of any answer. */
static void note_time(const struct kube_call *call)
{
	msec ahead;

	if (http_call_server_time(call->http, &ahead))
		call->api->server_ahead = ahead;
}

static struct kube_retry decide(const struct kube_call *call, const struct kube_status *status,
				bool is_lost)
{
	const struct kube_outcome outcome = {
		.verb = call->socket.protocols ? KUBE_CREATE
			: call->on_bytes       ? KUBE_WATCH
			: call->is_looking     ? KUBE_GET
					       : call->request.verb,
		.has_name = call->look_url,
		.is_question = call->is_question,
		.is_relayed = call->request.is_relayed,
		.n_tries = call->n_tries,
		.n_failures = call->is_looking ? call->n_failed_looks : call->n_failures,
		.was_refreshed = call->was_refreshed,
		.can_refresh = call->api->login->refresh,
		.is_lost = is_lost,
		.was_lost = call->was_lost,
		.status = *status,
	};

	return kube_retry_decide(&outcome, random_fraction());
}

/* Retries or finishes the call as the rules decide; returns false if they give up. */
static bool retry_or_finish_call(struct kube_call *call, const struct kube_status *status,
				 bool is_lost)
{
	const struct kube_status done = {.code = 200, .retry_after = -1};

	if (!kube_asks_to_wait(status))
		*(call->is_looking ? &call->n_failed_looks : &call->n_failures) += 1;
	struct kube_retry retry = decide(call, status, is_lost);

	if (retry.action == KUBE_GIVE_UP || call->has_started)
		return false;
	if (retry.action == KUBE_WAS_DONE) {
		kube_call_finish(call, NULL, &done, NULL);
		return true;
	}
	call->was_lost |= is_lost || status->code >= 500;
	if (retry.action == KUBE_REFRESH) {
		call->was_refreshed = true;
		call->n_tries--;
		if (call->refreshes_seen == call->api->n_refreshes) {
			kube_api_refresh(call, true);
			return true;
		}
	}
	call->is_looking |= retry.action == KUBE_LOOK_FIRST;
	loop_timer_arm_after(call->timer, retry.wait);
	return true;
}

/* The searched object exists: created by us or by another client. */
static void compare(struct kube_call *call, struct json *found, const struct kube_status *status)
{
	bool is_create = call->request.verb == KUBE_CREATE;
	struct kube_status conflict = {.code = 409, .retry_after = -1};
	struct json *sent CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (json_read(call->body, strlen(call->body), &sent, NULL) == 0 &&
	    (is_create ? kube_was_created(sent, found) : kube_was_patched(sent, found))) {
		kube_call_finish(call, found, status, NULL);
		return;
	}
	snprintf(conflict.reason, sizeof(conflict.reason), "%s",
		 is_create ? "AlreadyExists" : "Conflict");
	err_set(&err, is_create ? ERR_EXISTS : ERR_CONFLICT,
		"cannot %s %s '%s' in namespace '%s': %s", kube_verbs[call->request.verb].word,
		call->request.resource->plural, call->request.name, call->request.namespace_name,
		is_create ? "it already exists" : "another client changed it");
	kube_call_finish(call, NULL, &conflict, &err);
}

static void handle_kube_success(struct kube_call *call, const struct http_answer *answer)
{
	const struct kube_status status = {.code = answer->status, .retry_after = -1};
	bool has_writers = call->request.resource == &kube_leases;
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct err err = {0};

	if (!call->on_bytes && answer->body_len &&
	    kube_json_read(answer->body, answer->body_len, has_writers, &object, &err) < 0) {
		err_prefix(&err, "cannot understand %s", call->api->login->server);
		kube_call_finish(call, NULL, &status, &err);
	} else if (call->is_looking) {
		compare(call, object, &status);
	} else {
		kube_call_finish(call, object, &status, NULL);
	}
}

/* The searched object does not exist, so it was not created: it is sent again, unless lost too
 * often. */
static bool creates_now(struct kube_call *call, const struct kube_status *status)
{
	struct err err = {0};

	if (!call->is_looking || call->request.verb != KUBE_CREATE || status->code != 404)
		return false;
	call->is_looking = false;
	if (call->n_failures < KUBE_BLIND_TRIES) {
		loop_timer_arm_after(call->timer, 0);
		return true;
	}
	if (call->failure)
		err_set(&err, ERR_UNREACHABLE, "%s", call->failure);
	else
		err_set(&err, ERR_UNREACHABLE,
			"cannot create %s '%s' in namespace '%s': it was lost %d times on the way "
			"to %s",
			call->request.resource->plural, call->request.name,
			call->request.namespace_name, call->n_failures, call->api->login->server);
	kube_call_fail(call, &err);
	return true;
}

static void handle_kube_refusal(struct kube_call *call, const struct http_answer *answer)
{
	struct kube_status status;
	struct err err = {0};

	kube_status_read(&call->request, call->request.namespace_name, answer->status, answer->body,
			 answer->body_len, &status, &err);
	if (answer->retry_after >= 0)
		status.retry_after = answer->retry_after;
	if (!call->is_looking)
		(void) text_keep(&call->failure, err.text);
	if (!creates_now(call, &status) && !retry_or_finish_call(call, &status, false))
		kube_call_finish(call, NULL, &status, &err);
}

/* A lost try without a retry becomes "unreachable" for the caller. After a loss, a server that is
 * down, perhaps because it restarts, is asked again for the outcome. */
static void handle_kube_try_lost(struct kube_call *call, const struct err *err)
{
	const struct kube_status status = {.retry_after = -1};
	bool is_lost = err->code == ERR_IO || (call->was_lost && err->code == ERR_UNREACHABLE);
	struct err lost = *err;

	if (!call->is_looking)
		(void) text_keep(&call->failure, NULL);
	if (retry_or_finish_call(call, &status, is_lost))
		return;
	if (is_lost)
		lost.code = ERR_UNREACHABLE;
	kube_call_finish(call, NULL, &status, &lost);
}

static void end_try(const struct http_answer *answer, const struct err *err, void *data)
{
	struct kube_call *call = data;

	note_time(call);
	call->http = NULL;
	call->has_started |= call->on_bytes && answer && answer->status < 300;
	if (call->is_let_go) {
		if (answer)
			kube_warnings_take(&call->api->warnings, answer);
		kube_call_free(call);
		return;
	}
	if (call->was_denied) {
		refuse(call);
		return;
	}
	/* API servers close the connection after a 401, and libcurl may miss the body. */
	if (!answer || (err && answer->status != 401 && answer->status != 429)) {
		handle_kube_try_lost(call, err);
		return;
	}
	kube_warnings_take(&call->api->warnings, answer);
	if (answer->status >= 200 && answer->status < 300)
		handle_kube_success(call, answer);
	else
		handle_kube_refusal(call, answer);
}

/* A rejection is an ordinary HTTP answer; a 101 has none. */
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
	call->has_started = end->status == SWITCHING_PROTOCOLS;
	if (err)
		handle_kube_try_lost(call, err);
	else if (call->has_started)
		kube_call_finish(call, NULL, &status, NULL);
	else
		handle_kube_refusal(call, &answer);
}

/* A credential that expires soon is renewed before use, but once, in case the new one does, too. */
static bool needs_refresh(const struct kube_call *call)
{
	const struct kube_login *login = call->api->login;

	return login->refresh && !call->asked_in_time &&
	       (loop_now() >= login->expires_at || loop_has_come(login->refresh_at));
}

static void on_kube_call_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_call *call = data;

	if (!call->has_started)
		note_time(call);
	call->has_started = true;
	call->on_bytes(bytes, len, call->data);
}

/* An object that is searched is compared as a whole. */
static const char *accepted_type(const struct kube_call *call)
{
	if (call->on_bytes && call->request.subresource)
		return "*/*";
	return call->request.wants_metadata && !call->is_looking
		       ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
			 "application/json"
		       : "application/json";
}

static void add_headers(const struct kube_call *call, struct kube_headers *headers)
{
	const char *content_type = kube_verbs[call->request.verb].content_type;

	kube_headers_add(headers, "Accept", accepted_type(call));
	if (call->body && !call->is_looking)
		kube_headers_add(headers, "Content-Type", content_type);
	if (call->request.pod_secret)
		kube_headers_add(headers, POD_SECRET_HEADER, call->request.pod_secret);
	kube_headers_add_login(headers, call->api->login);
}

static bool is_permitted(const struct kube_call *call)
{
	const struct kube_api *api = call->api;
	enum kube_verb verb = call->request.verb;

	return !api->permit || verb == KUBE_GET || verb == KUBE_LIST || verb == KUBE_WATCH ||
	       call->request.resource == &kube_leases || api->permit(api->permit_data);
}

/* The call may have waited for its slot, or the process was paused. */
static bool may_send(void *data)
{
	struct kube_call *call = data;

	call->was_denied = call->is_let_go || !is_permitted(call);
	return !call->was_denied;
}

static void send_request(struct kube_call *call)
{
	struct kube_headers headers CLEANUP(kube_headers_done) = {0};
	const char *body = call->is_looking ? NULL : call->body;

	add_headers(call, &headers);
	const struct http_request request = {
		.method = call->is_looking ? "GET" : kube_verbs[call->request.verb].method,
		.url = call->is_looking ? call->look_url : call->url,
		.headers = (const char *const *) headers.lines,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.trust = call->api->trust,
		.proxy = call->api->login->proxy,
		.takes_compressed = !call->api->login->skips_compression && !call->on_bytes,
		.is_urgent = call->request.resource == &kube_leases, /* a Lease expires */
		.on_bytes = call->on_bytes ? on_kube_call_bytes : NULL,
		.on_done = end_try,
		.may_send = may_send,
		.data = call,
		.connect_timeout = call->api->login->timeout,
		.timeout = call->on_bytes ? 0 : call->api->login->timeout,
		.output_idle = call->output_idle,
	};

	call->http = http_call_new(call->api->http, &request);
}

static void begin_socket(struct kube_call *call)
{
	struct kube_headers headers CLEANUP(kube_headers_done) = {0};

	kube_headers_add_login(&headers, call->api->login);
	struct websocket_request request = call->socket;

	request.http = (struct http_request){.url = call->url,
					     .headers = (const char *const *) headers.lines,
					     .trust = call->api->trust,
					     .proxy = call->api->login->proxy,
					     .connect_timeout = call->api->login->timeout,
					     .timeout = call->api->login->timeout,
					     .output_idle = call->socket.http.output_idle};
	request.user_agent = call->api->user_agent;
	request.on_end = end_socket;
	request.data = call->data;
	request.end_data = call;
	call->websocket = websocket_new(call->api->loop, &request);
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
		kube_api_refresh(call, false);
		return;
	}
	call->refreshes_seen = call->api->n_refreshes;
	call->n_tries++;
	if (call->socket.protocols)
		begin_socket(call);
	else
		send_request(call);
}

/* The URL of the object to create or patch, without parameters. */
static const char *verification_url_of(const struct kube_call *call)
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
	return arena_copy_text(call->arena, text_of(&url));
}

static void set_up_kube_call(struct kube_call *call, const struct kube_request *request)
{
	const struct kube_login *login = call->api->login;
	const char *namespace_name = kube_request_namespace(request, login->namespace_name);
	struct arena *arena = call->arena;
	struct text url CLEANUP(text_done) = {0};

	call->started_at = loop_monotonic_now();
	kube_request_add_url(&url, request, login->server, login->namespace_name);
	call->url = arena_copy_text(arena, text_of(&url));
	call->request = *request;
	call->look_url = verification_url_of(call);
	call->is_question = kube_request_is_question(request);
	if (request->body)
		call->body = json_compact_text(request->body);
	call->request = (struct kube_request){
		request->verb,
		request->resource,
		arena_copy_text(arena, namespace_name),
		arena_copy_text(arena, kube_request_name(request)),
		arena_copy_text(arena, request->subresource),
		.pod_secret = arena_copy_text(arena, request->pod_secret),
		.wants_metadata = request->wants_metadata,
		.is_relayed = request->is_relayed,
	};
}

void kube_stream_start(struct kube_call **ret_call, struct kube_api *api,
		       const struct kube_request *request, msec output_idle, http_bytes_fn bytes,
		       kube_done_fn done, void *data)
{
	struct arena *arena = arena_new();
	struct kube_call *call = arena_take(arena, sizeof(*call));

	call->arena = arena;
	call->api = api;
	call->kept_at = ret_call;
	call->on_bytes = bytes;
	call->output_idle = output_idle;
	call->done = done;
	call->data = data;
	LIST_INSERT_HEAD(&api->calls, call, link);
	set_up_kube_call(call, request);
	call->timer = loop_new_timer(api->loop, begin_try, call);
	loop_timer_arm_after(call->timer, 0);
	if (ret_call)
		*ret_call = call;
}

void kube_call_start(struct kube_call **ret_call, struct kube_api *api,
		     const struct kube_request *request, kube_done_fn done, void *data)
{
	kube_stream_start(ret_call, api, request, 0, NULL, done, data);
}

void kube_socket_start(struct kube_call **ret_call, struct kube_api *api,
		       const struct kube_request *request, const struct websocket_request *socket,
		       kube_done_fn done, void *data)
{
	kube_stream_start(ret_call, api, request, 0, NULL, done, data);
	(*ret_call)->socket = *socket;
}

void kube_call_cancel(struct kube_call *call)
{
	if (call && !call->is_ending)
		kube_call_free(call);
}

void kube_call_let_go(struct kube_call *call)
{
	if (!call || !call->http) {
		kube_call_cancel(call);
		return;
	}
	call->is_let_go = true;
	call->kept_at = NULL;
}
