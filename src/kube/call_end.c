/* Passes the end of a try to kube/retry.h and executes its decision. */
#include "kube/call_end.h"

#include "kube/created.h"
#include "kube/jitter.h"
#include "kube/resources.h"
#include "kube/retry.h"
#include "kube/writers.h"

#include <stdio.h>
#include <string.h>

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

	return kube_retry_decide(&outcome, kube_jitter());
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

static bool is_what_was_sent(const struct kube_call *call, const struct json *found)
{
	struct json *sent CLEANUP(json_cleanup) = NULL;

	if (json_read(call->body, strlen(call->body), &sent, NULL) < 0)
		return false;
	return call->request.verb == KUBE_CREATE ? kube_was_created(sent, found)
						 : kube_was_patched(sent, found);
}

/* The searched object exists: created by us or by another client. */
static void compare(struct kube_call *call, struct json *found, const struct kube_status *status)
{
	bool is_create = call->request.verb == KUBE_CREATE;
	struct kube_status conflict = {.code = 409, .retry_after = -1};
	struct err err = {0};

	if (is_what_was_sent(call, found)) {
		kube_call_finish(call, found, status, NULL);
		return;
	}
	snprintf(conflict.reason, sizeof(conflict.reason), "%s",
		 is_create ? "AlreadyExists" : "Conflict");
	err_set(&err, is_create ? ERR_EXISTS : ERR_CONFLICT,
		"cannot %s %s '%s' in namespace '%s': %s", kube_verb_word(call->request.verb),
		call->request.resource->plural, call->name, call->namespace_name,
		is_create ? "it already exists" : "another client changed it");
	kube_call_finish(call, NULL, &conflict, &err);
}

static void handle_kube_success(struct kube_call *call, const struct http_answer *answer)
{
	const struct kube_status status = {.code = answer->status, .retry_after = -1};
	struct text shorter CLEANUP(text_done) = {0};
	struct json *object CLEANUP(json_cleanup) = NULL;
	const char *body = answer->body;
	size_t len = answer->body_len;
	struct err err = {0};

	if (len && call->request.resource != &kube_leases)
		writers_leave_out(&body, &len, &shorter);
	if (!call->on_bytes && len && json_read_repaired(body, len, &object, &err) < 0) {
		err_prefix(&err, "cannot understand %s", call->api->login->server);
		kube_call_finish(call, NULL, &status, &err);
	} else if (call->is_looking) {
		compare(call, object, &status);
	} else {
		kube_call_finish(call, object, &status, NULL);
	}
}

/* The searched object does not exist, so the create had no effect. It is sent again, unless it was
 * lost too often. */
static bool creates_now(struct kube_call *call, const struct kube_status *status)
{
	const struct kube_status lost = {.retry_after = -1};
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
			call->request.resource->plural, call->name, call->namespace_name,
			call->n_failures, call->api->login->server);
	kube_call_finish(call, NULL, &lost, &err);
	return true;
}

static void handle_kube_refusal(struct kube_call *call, const struct http_answer *answer)
{
	struct kube_status status;
	struct err err = {0};

	kube_status_read(&call->request, call->namespace_name, answer->status, answer->body,
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

/* Whether the code suffices although the body was lost. API servers close the connection after a
 * 401, and libcurl may miss the body. */
static bool is_said_by_code(const struct http_answer *answer)
{
	return answer->status == 401 || answer->status == 429;
}

void kube_call_end_try(const struct http_answer *answer, const struct err *err, void *data)
{
	struct kube_call *call = data;

	kube_call_note_time(call);
	call->http = NULL;
	call->has_started |= call->on_bytes && answer && answer->status < 300;
	if (call->is_let_go) {
		if (answer)
			kube_warnings_take(&call->api->warnings, answer);
		kube_call_free(call);
		return;
	}
	if (call->was_denied) {
		kube_call_refuse(call);
		return;
	}
	if (!answer || (err && !is_said_by_code(answer))) {
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
void kube_call_end_socket(const struct websocket_end *end, const struct err *err, void *data)
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
		handle_kube_try_lost(call, err);
	else if (call->has_started)
		kube_call_finish(call, NULL, &status, NULL);
	else
		handle_kube_refusal(call, &answer);
}
