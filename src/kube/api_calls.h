/* The client and its calls: what they have in common, those that wait for a new credential, and how
 * a call ends for its caller. Tries are made by kube/call.c and judged by kube/call_end.c; only
 * they include this. */
#pragma once

#include "kube/api.h"

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
	struct request_limiter limiter;
	msec server_ahead; /* its clock, of ours */
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
	char *pod_secret; /* NULL: none */
	http_bytes_fn on_bytes; /* NULL: no stream */
	msec output_idle;
	kube_done_fn done;
	void *data;

	struct kube_socket socket; /* protocols are NULL: it is no WebSocket */
	struct http_call *http; /* of the try that is under way; NULL: it waits */
	struct websocket *websocket; /* the same, of a WebSocket */
	struct loop_watch *timer; /* until the next try */
	unsigned refreshes_seen; /* how often the credential of the try had been renewed */
	msec started_at; /* by the monotonic clock */
	int n_tries, n_failures, n_failed_looks;
	char *failure; /* what the server said to the try before; NULL: that was lost, or none was
			*/
	bool asked_in_time; /* for a new credential, before the old one ended */
	bool was_refreshed; /* after a 401 */
	bool is_question; /* a create that keeps nothing */
	bool was_lost; /* a try, which may have been done */
	bool was_denied; /* when all that was left was to send it */
	bool is_let_go; /* nobody waits for its end */
	bool is_looking, has_started, is_ending;
};

/* Into a list, in front; and out of the one that it is in. */
void kube_call_join(struct call_list *list, struct kube_call *call);
void kube_call_leave(const struct kube_call *call);
void kube_call_free(struct kube_call *call);
/* The call has ended: its caller hears of it, and it is gone. */
void kube_call_finish(struct kube_call *call, struct json *object, const struct kube_status *status,
		      const struct err *err);
void kube_call_fail(struct kube_call *call, const struct err *err);
void kube_call_refuse(struct kube_call *call); /* the API's permit said no */
/* Whatever has come of it, its head says what time it is there. */
void kube_call_note_time(const struct kube_call *call);
/* The call waits until the credential has been renewed. */
void kube_api_refresh(struct kube_call *call, bool was_refused);
