/* The client and its calls: their shared state, and how a call ends. kube/api_calls.c has the
 * client and the calls that wait for a new credential, kube/call.c makes the tries and evaluates
 * them. Only they include this. */
#pragma once

#include "kube/api.h"

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

void kube_call_free(struct kube_call *call); /* also removes it from its list */
/* Ends the call: calls `done`, then frees the call. */
void kube_call_finish(struct kube_call *call, struct json *object, const struct kube_status *status,
		      const struct err *err);
void kube_call_fail(struct kube_call *call, const struct err *err);
/* Makes the call wait until the credential has been renewed. */
void kube_api_refresh(struct kube_call *call, bool was_refused);
