/* A call is a series of tries. Each try is one request of http/client or one WebSocket.
 * kube/call_end.c handles its end. */
#include "base/mem.h"
#include "base/text.h"
#include "kube/call_end.h"
#include "kube/headers.h"
#include "kube/resources.h"
#include "spec/elasticdl.h"

#include <stdlib.h>
#include <string.h>

static void begin_try(void *data);

/* The URL of the object to create or patch, without parameters. */
static char *verification_url_of(const struct kube_call *call)
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

static void set_up_kube_call(struct kube_call *call, const struct kube_request *request)
{
	const struct kube_login *login = call->api->login;
	struct text url CLEANUP(text_done) = {0}, body CLEANUP(text_done) = {0};

	call->started_at = loop_monotonic_now();
	kube_request_add_url(&url, request, login->server, login->namespace_name);
	call->url = text_take(&url);
	call->request = *request;
	call->look_url = verification_url_of(call);
	call->is_question = kube_request_is_question(request);
	call->name = mem_copy_text(kube_request_name(request));
	call->namespace_name =
		mem_copy_text(kube_request_namespace(request, login->namespace_name));
	call->subresource = mem_copy_text(request->subresource);
	if (request->body) {
		json_add_compact(&body, request->body);
		call->body = text_take(&body);
	}
	call->pod_secret = mem_copy_text(request->pod_secret);
	call->request.name = call->name;
	call->request.namespace_name = call->namespace_name;
	call->request.subresource = call->subresource;
	call->request.path = call->request.pod_secret = NULL;
	call->request.parameters = NULL;
	call->request.body = NULL;
}

struct kube_call *kube_stream_new(struct kube_api *api, const struct kube_request *request,
				  msec output_idle, http_bytes_fn bytes, kube_done_fn done,
				  void *data)
{
	struct kube_call *call = mem_new(sizeof(*call));

	call->api = api;
	call->on_bytes = bytes;
	call->output_idle = output_idle;
	call->done = done;
	call->data = data;
	kube_call_join(&api->calls, call);
	set_up_kube_call(call, request);
	call->timer = loop_new_timer(api->loop, begin_try, call);
	loop_timer_arm_after(call->timer, 0);
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

void kube_call_cancel(struct kube_call *call)
{
	if (call && !call->is_ending)
		kube_call_free(call);
}

void kube_call_let_go(struct kube_call *call)
{
	if (call && call->http)
		call->is_let_go = true;
	else
		kube_call_cancel(call);
}

/* A credential that expires soon is renewed before use, but only once, in case the new one expires
 * soon as well. */
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
		kube_call_note_time(call);
	call->has_started = true;
	call->on_bytes(bytes, len, call->data);
}

/* An object that is searched is compared as a whole. */
static const char *accepted_type(const struct kube_call *call)
{
	if (call->on_bytes && call->subresource)
		return "*/*";
	return call->request.wants_metadata && !call->is_looking
		       ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
			 "application/json"
		       : "application/json";
}

static void add_headers(const struct kube_call *call, struct kube_headers *headers)
{
	const char *content_type = kube_request_content_type(&call->request);

	kube_headers_add(headers, "Accept", accepted_type(call));
	if (call->body && !call->is_looking)
		kube_headers_add(headers, "Content-Type", content_type);
	if (call->pod_secret)
		kube_headers_add(headers, POD_SECRET_HEADER, call->pod_secret);
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
		.method = call->is_looking ? "GET" : kube_request_method(&call->request),
		.url = call->is_looking ? call->look_url : call->url,
		.headers = (const char *const *) headers.lines,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.trust = call->api->trust,
		.proxy = call->api->login->proxy,
		.takes_compressed = !call->api->login->skips_compression && !call->on_bytes,
		.is_urgent = call->request.resource == &kube_leases, /* a Lease expires */
		.on_bytes = call->on_bytes ? on_kube_call_bytes : NULL,
		.on_done = kube_call_end_try,
		.may_send = may_send,
		.data = call,
		.connect_timeout = call->api->login->timeout,
		.timeout = call->on_bytes ? 0 : call->api->login->timeout,
		.output_idle = call->output_idle,
	};

	call->http = http_call_new(call->api->http, &request);
}

static void open_socket(const char *protocol, void *data)
{
	struct kube_call *call = data;

	call->has_started = true;
	call->socket.on_open(protocol, call->data);
}

static void on_kube_call_message(const char *bytes, size_t len, void *data)
{
	const struct kube_call *call = data;

	call->socket.on_message(bytes, len, call->data);
}

static void on_kube_call_room(void *data)
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
			 .connect_timeout = call->api->login->timeout,
			 .timeout = call->api->login->timeout,
			 .output_idle = call->socket.output_idle},
		.user_agent = call->api->user_agent,
		.protocols = call->socket.protocols,
		.limit = call->socket.limit,
		.on_open = open_socket,
		.on_message = on_kube_call_message,
		.on_room = on_kube_call_room,
		.on_end = kube_call_end_socket,
		.data = call,
	};

	call->websocket = websocket_new(call->api->loop, &request);
}

static void begin_try(void *data)
{
	struct kube_call *call = data;

	if (!is_permitted(call)) {
		kube_call_refuse(call);
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
