/* A call is a series of tries. Each try is one request of http/client or one WebSocket;
 * kube/retry.h decides what follows its end. */
#include "kube/api.h"

#include "io/log.h"
#include "io/random.h"
#include "kube/frames.h"
#include "kube/retry.h"
#include "spec/elasticdl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#define SWITCHING_PROTOCOLS 101

struct kube_call {
	struct arena *arena; /* of this struct and its names; overwritten before it is freed */
	struct kube_api *api;
	LIST_ENTRY(kube_call) link;
	struct kube_call **kept_at; /* the caller's pointer to it; NULL: none */
	/* The request, with copied names; its parameters are only in `url`. */
	struct kube_request request;
	const char *url;
	const char *look_url; /* URL of the object to create or patch; NULL: none */
	char *body; /* NULL: none */
	http_bytes_fn on_bytes; /* NULL: no stream */
	msec output_idle;
	kube_done_fn done;
	void *data;

	struct websocket_request socket; /* its protocols are NULL: no WebSocket */
	struct http_call *http; /* of the current try; NULL: the call waits */
	struct websocket *websocket; /* of the current try, if it is a WebSocket */
	struct loop_watch *timer; /* until the next try */
	unsigned refreshes_seen; /* n_refreshes of the API when the try began */
	instant started_at;
	int n_tries, n_failures, n_failed_looks;
	char *failure; /* the server's answer to the last failed try; NULL: none */
	bool asked_in_time; /* asked for a new credential before the old one expired */
	bool was_refreshed; /* the credential was renewed after a 401 */
	bool is_question; /* a create that stores nothing */
	bool was_lost; /* an earlier try got no answer and may have taken effect */
	bool was_denied; /* the permit was denied when only the sending was left */
	bool is_let_go; /* no caller waits for its end */
	bool is_looking, has_started, is_ending;
};

/* Also removes it from its list. */
static void free_call(struct kube_call *call)
{
	LIST_REMOVE(call, link);
	http_call_cancel(call->http);
	websocket_cancel(call->websocket);
	loop_watch_free(call->timer);
	free(call->body);
	free(call->failure);
	arena_free_secret(call->arena);
}

/* "create pods/ada/train-worker-0: 201 after 12 ms, in 1 tries" */
static void log_end(const struct kube_call *call, const struct kube_status *status,
		    const struct err *err)
{
	const struct kube_request *request = &call->request;
	const char *const parts[] = {request->namespace_name, request->name, request->subresource};
	struct text what CLEANUP(text_done) = {0};

	if (!log_is_on(LOG_DEBUG))
		return;
	text_addf(&what, "%s %s", kube_verbs[request->verb].word, request->resource->plural);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i] && *parts[i])
			text_addf(&what, "/%s", parts[i]);
	log_debug("%s: %d after %" PRId64 " ms, in %d tries%s%s", text_of(&what), status->code,
		  instant_since(call->started_at, loop_monotonic_now()), call->n_tries,
		  err ? ": " : "", err ? err->text : "");
}

/* Ends the call: calls `done`, then frees the call. */
static void finish_call(struct kube_call *call, struct json *object,
			const struct kube_status *status, const struct err *err)
{
	const struct kube_result result = {object, status, err};

	call->is_ending = true;
	log_end(call, status, err);
	if (call->kept_at)
		*call->kept_at = NULL;
	call->done(&result, call->data);
	free_call(call);
}

static void fail_call(struct kube_call *call, const struct err *err)
{
	const struct kube_status status = {.retry_after = -1};

	finish_call(call, NULL, &status, err);
}

static void update_api_trust(struct kube_api *api)
{
	const struct kube_login *login = api->login;
	const struct http_trust parts = {
		.authority = login->authority,
		.client_certificate = login->credential.client_certificate,
		.client_key = login->credential.client_key,
		.server_name = login->tls_server_name,
		.skips_verify = login->skips_verify,
	};

	http_trust_free(api->trust);
	api->trust = http_trust_new(&parts);
}

/* Resumes the calls that waited for the credential, or fails them. Callbacks may end others. */
static void end_refresh(const struct err *err, void *data)
{
	struct kube_api *api = data;
	struct kube_call *call;

	api->is_refreshing = false;
	if (!err) {
		api->n_refreshes++;
		update_api_trust(api);
	}
	while ((call = LIST_FIRST(&api->waiting))) {
		LIST_REMOVE(call, link);
		LIST_INSERT_HEAD(&api->calls, call, link);
		assert(LIST_FIRST(&api->waiting) != call);
		if (err)
			fail_call(call, err);
		else
			loop_timer_arm_after(call->timer, 0);
	}
}

/* Makes the call wait until the credential has been renewed. */
static void wait_for_refresh(struct kube_call *call, bool was_refused)
{
	struct kube_api *api = call->api;

	LIST_REMOVE(call, link);
	LIST_INSERT_HEAD(&api->waiting, call, link);
	if (api->is_refreshing)
		return;
	api->is_refreshing = true;
	api->login->refresh(api->login, was_refused, end_refresh, api);
}

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
	fail_call(call, &err);
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
		finish_call(call, NULL, &done, NULL);
		return true;
	}
	call->was_lost |= is_lost || status->code >= 500;
	if (retry.action == KUBE_REFRESH) {
		call->was_refreshed = true;
		call->n_tries--;
		if (call->refreshes_seen == call->api->n_refreshes) {
			wait_for_refresh(call, true);
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
		finish_call(call, found, status, NULL);
		return;
	}
	snprintf(conflict.reason, sizeof(conflict.reason), "%s",
		 is_create ? "AlreadyExists" : "Conflict");
	err_set(&err, is_create ? ERR_EXISTS : ERR_CONFLICT,
		"cannot %s %s '%s' in namespace '%s': %s", kube_verbs[call->request.verb].word,
		call->request.resource->plural, call->request.name, call->request.namespace_name,
		is_create ? "it already exists" : "another client changed it");
	finish_call(call, NULL, &conflict, &err);
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
		finish_call(call, NULL, &status, &err);
	} else if (call->is_looking) {
		compare(call, object, &status);
	} else {
		finish_call(call, object, &status, NULL);
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
	fail_call(call, &err);
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
		finish_call(call, NULL, &status, &err);
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
	finish_call(call, NULL, &status, &lost);
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
		free_call(call);
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
		finish_call(call, NULL, &status, NULL);
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
		wait_for_refresh(call, false);
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
		free_call(call);
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

static char *user_agent(void)
{
	struct utsname machine;

	return uname(&machine)
		       ? mem_copy_text("muster/" MUSTER_VERSION " (linux)")
		       : mem_format("muster/" MUSTER_VERSION " (linux/%s)", machine.machine);
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
	kube_api_on_warning(api, take_login->on_warning, take_login->on_warning_data);
	update_api_trust(api);
	*ret_api = api;
	return 0;
}

int kube_api_connect(struct loop *loop, kube_log_in_fn log_in, void *data,
		     struct kube_api **ret_api, struct err *err)
{
	struct loop *own = NULL;
	struct kube_login *login = NULL;
	int rc = loop ? 0 : loop_new(&own, err);

	if (rc == 0)
		rc = log_in(loop ? loop : own, &login, err, data);
	if (rc == 0)
		rc = kube_api_new(loop ? loop : own, login, ret_api, err);
	if (rc < 0) {
		kube_login_free(login);
		loop_free(own);
		return rc;
	}
	(*ret_api)->owns_loop = own;
	return 0;
}

msec kube_api_server_now(const struct kube_api *api)
{
	return loop_now() + api->server_ahead;
}

void kube_api_on_warning(struct kube_api *api, kube_warning_fn fn, void *data)
{
	api->warnings.fn = fn;
	api->warnings.data = data;
}

static void free_all(struct kube_call *first)
{
	for (struct kube_call *call = first, *next; call; call = next) {
		next = LIST_NEXT(call, link);
		free_call(call);
	}
}

void kube_api_free(struct kube_api *api)
{
	if (!api)
		return;
	free_all(LIST_FIRST(&api->calls));
	free_all(LIST_FIRST(&api->waiting));
	http_client_free(api->http);
	kube_login_free(api->login);
	http_trust_free(api->trust);
	kube_warnings_done(&api->warnings);
	if (api->owns_loop)
		loop_free(api->loop);
	free(api->user_agent);
	free(api);
}

void kube_api_cleanup(struct kube_api **api)
{
	kube_api_free(*api);
}
