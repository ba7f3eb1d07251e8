#include "kube/api_calls.h"

#include "io/log.h"

#include <assert.h>
#include <inttypes.h>
#include <sys/utsname.h>

void kube_call_free(struct kube_call *call)
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

void kube_call_finish(struct kube_call *call, struct json *object, const struct kube_status *status,
		      const struct err *err)
{
	const struct kube_result result = {object, status, err};

	call->is_ending = true;
	log_end(call, status, err);
	if (call->kept_at)
		*call->kept_at = NULL;
	call->done(&result, call->data);
	kube_call_free(call);
}

void kube_call_fail(struct kube_call *call, const struct err *err)
{
	const struct kube_status status = {.retry_after = -1};

	kube_call_finish(call, NULL, &status, err);
}

static char *user_agent(void)
{
	struct utsname machine;

	return uname(&machine)
		       ? mem_copy_text("muster/" MUSTER_VERSION " (linux)")
		       : mem_format("muster/" MUSTER_VERSION " (linux/%s)", machine.machine);
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
	struct kube_login *login = NULL;
	int rc = log_in(loop, &login, err, data);

	if (rc < 0)
		return rc;
	rc = kube_api_new(loop, login, ret_api, err);
	if (rc < 0)
		kube_login_free(login);
	return rc;
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
		kube_call_free(call);
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
	free(api->user_agent);
	free(api);
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
			kube_call_fail(call, err);
		else
			loop_timer_arm_after(call->timer, 0);
	}
}

void kube_api_refresh(struct kube_call *call, bool was_refused)
{
	struct kube_api *api = call->api;

	LIST_REMOVE(call, link);
	LIST_INSERT_HEAD(&api->waiting, call, link);
	if (api->is_refreshing)
		return;
	api->is_refreshing = true;
	api->login->refresh(api->login, was_refused, end_refresh, api);
}
