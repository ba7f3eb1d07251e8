/* Calls to one API server as one login: addresses, credentials, retries, and answers as JSON or as
 * errors of ours. The rules of trying again are kube/retry.h's. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "http/client.h"
#include "http/websocket.h"
#include "io/loop.h"
#include "kube/login.h"
#include "kube/request.h"
#include "kube/request_limiter.h"
#include "kube/status.h"
#include "kube/warnings.h"

#include <stdbool.h>

struct kube_api;
struct kube_call; /* one call, with all its tries */

/* `object` is borrowed, and NULL when the call failed or was a stream; `err` is NULL when it did
 * not. `status` is there in any case: code, reason (kube/status.h). An error of the connection is
 * ERR_UNREACHABLE, or what http/request.h says. The call is gone after it. */
typedef void (*kube_done_fn)(struct json *object, const struct kube_status *status,
			     const struct err *err, void *data);

/* The callbacks of a WebSocket, as http/websocket.h has them. */
struct kube_socket {
	const char *const *protocols; /* sub-protocols; they live as long as the call */
	msec output_idle; /* as of websocket_request; 0: no limit */
	void (*on_open)(const char *protocol, void *data);
	void (*on_message)(const char *bytes, size_t len, void *data);
	void (*on_room)(void *data); /* may be NULL */
	size_t limit; /* as of websocket_request */
};

/* Takes the login over, when it succeeds. ERR_UNSUPPORTED as http_client_new. */
int kube_api_new(struct loop *loop, struct kube_login *take_login, struct kube_api **ret_api,
		 struct err *err) MUST_USE;
/* The same with a login that is made now. */
int kube_api_connect(struct loop *loop, kube_log_in_fn log_in, void *data,
		     struct kube_api **ret_api, struct err *err) MUST_USE;
/* Ends all calls without a callback; not from one. NULL is fine. */
void kube_api_free(struct kube_api *api);
/* The wall clock of the server, as far as its answers have told; ours before the first. */
msec kube_api_server_now(const struct kube_api *api);
const struct kube_login *kube_api_login(const struct kube_api *api);
/* What is told of warnings from now on, in the place of the login's. Each is told once. */
void kube_api_on_warning(struct kube_api *api, kube_warning_fn fn, void *data);

/* Asked before each try of a call that may change something, also long after the call was made,
 * and once more when its connection stands and all that is left is to send it: false ends it with
 * ERR_REFUSED, and nothing is sent. So a supervisor that loses the right to act (reconcile/lease.h)
 * has nothing on its way that is started later. Changes of Leases, by which that right is had, are
 * not asked for. NULL: all are made. */
typedef bool (*kube_permit_fn)(void *data);
void kube_api_set_permit(struct kube_api *api, kube_permit_fn fn, void *data);

/* Whose slot it is to make a call of those that may come in great numbers: taken before it is made.
 */
struct request_limiter *kube_api_limiter(struct kube_api *api);

/* Begins a call. The request is needed only until this returns (its resource for as long as the
 * call); the body is kept as a reference. `done` is called from the loop, once. */
struct kube_call *kube_call_new(struct kube_api *api, const struct kube_request *request,
				kube_done_fn done, void *data);
/* The same for an answer without end: a watch, a followed log. `bytes` gets it as it comes; with
 * silence (of http_request) it counts as lost. Only what failed before the first byte is tried
 * again. */
struct kube_call *kube_stream_new(struct kube_api *api, const struct kube_request *request,
				  msec output_idle, http_bytes_fn bytes, kube_done_fn done,
				  void *data);
/* The same for a WebSocket (exec, attach, portforward): what is tried again is only what the server
 * refused before it began, because a command that may have run is not run twice. `done` is called
 * without an error when the server closed it properly. */
struct kube_call *kube_socket_new(struct kube_api *api, const struct kube_request *request,
				  const struct kube_socket *socket, kube_done_fn done, void *data);
/* Of a kube_socket_new, from its on_open to its `done`. */
struct websocket *kube_call_websocket(const struct kube_call *call);
void kube_call_cancel(struct kube_call *call); /* no callback follows; NULL is fine */
/* What it asks for has been seen to be done: no callback follows either, nothing is tried again,
 * but an answer that is under way is still heard for what the server warns of. NULL is fine. */
void kube_call_let_go(struct kube_call *call);
