/* Requests to one API server with one login: addresses, credentials, retries, and answers as JSON
 * or as our errors. kube/retry.h has the retry rules. */
#pragma once

#include "base/json.h"
#include "http/client.h"
#include "http/websocket.h"
#include "io/loop.h"
#include "kube/login.h"
#include "kube/request.h"
#include "kube/request_limiter.h"
#include "kube/status.h"

#include <sys/queue.h>

struct kube_call; /* one request, with all its tries */

/* How a request ended. */
struct kube_result {
	struct json *object; /* borrowed; NULL when the request failed or was a stream */
	const struct kube_status *status; /* code, reason (kube/status.h); never NULL */
	/* NULL on success. A connection error is ERR_UNREACHABLE or a code of http/request.h. */
	const struct err *err;
};

/* Reports the end of a request, which is freed after the callback. */
typedef void (*kube_done_fn)(const struct kube_result *result, void *data);

struct kube_api {
	/* Its users read these. */
	struct loop *loop;
	bool owns_loop;
	struct kube_login *login;
	struct request_limiter limiter; /* requests that may be numerous need a slot of it */

	/* And may set these. Called before each try of a request that may change something, even
	 * long after the request was made, and once more when the connection is open and only the
	 * sending is left. If it returns false, the request ends with ERR_REFUSED and nothing is
	 * sent. So a supervisor that loses its lease (reconcile/lease.h) leaves no change in
	 * flight. Changes of Leases are exempt, because they acquire the lease. NULL: all requests
	 * are permitted. */
	bool (*permit)(void *data);
	void *permit_data;

	char *user_agent;
	struct http_client *http;
	struct http_trust *trust;
	unsigned n_refreshes;
	bool is_refreshing;
	LIST_HEAD(, kube_call) calls; /* all except those that wait for a new credential */
	LIST_HEAD(, kube_call) waiting;
	struct kube_warnings warnings;
	msec server_ahead; /* server clock minus our clock */
};

/* Takes the login over on success. Returns ERR_UNSUPPORTED like http_client_new. */
int kube_api_new(struct loop *loop, struct kube_login *take_login, struct kube_api **ret_api,
		 struct err *err) MUST_USE;
/* The same with a login that `log_in` creates. loop: NULL: the API gets its own, and frees it. */
int kube_api_connect(struct loop *loop, kube_log_in_fn log_in, void *data,
		     struct kube_api **ret_api, struct err *err) MUST_USE;
/* Cancels all requests without their callbacks. Do not call it from one. NULL is fine. */
void kube_api_free(struct kube_api *api);
void kube_api_cleanup(struct kube_api **api);
/* The server's wall clock, estimated from its answers; our clock before the first answer. */
msec kube_api_server_now(const struct kube_api *api);
/* Sets the callback for server warnings instead of the login's. Each is reported once. */
void kube_api_on_warning(struct kube_api *api, kube_warning_fn fn, void *data);

/* Starts a request. `request` is needed only until this returns; its resource must outlive the
 * call; the body is kept by reference. `done` is called once, from the loop. *ret_call is the call;
 * it is NULL again when `done` is called. ret_call may be NULL. */
void kube_call_start(struct kube_call **ret_call, struct kube_api *api,
		     const struct kube_request *request, kube_done_fn done, void *data);
/* The same for an endless answer: a watch, a followed log. `bytes` gets the answer piece by piece.
 * After `output_idle` without bytes (as in http_request) the connection counts as lost. Only
 * failures before the first byte are retried. */
void kube_stream_start(struct kube_call **ret_call, struct kube_api *api,
		       const struct kube_request *request, msec output_idle, http_bytes_fn bytes,
		       kube_done_fn done, void *data);
/* The same for a WebSocket (exec, attach, portforward), with the protocols, limit, http.output_idle
 * and callbacks of `socket`, but `done` instead of on_end. Only a request that the server rejected
 * before it began is retried, because a command must not run twice. `done` gets no error when the
 * server closed the WebSocket properly. */
void kube_socket_start(struct kube_call **ret_call, struct kube_api *api,
		       const struct kube_request *request, const struct websocket_request *socket,
		       kube_done_fn done, void *data);
void kube_call_cancel(struct kube_call *call); /* no callback follows; NULL is fine */
/* For a request whose effect was already observed. No callback follows and nothing is retried. If
 * an answer is under way, its server warnings are still reported. NULL is fine. */
void kube_call_let_go(struct kube_call *call);
