/* HTTP and HTTPS requests on the loop. Only this module uses libcurl. It knows nothing of
 * Kubernetes.
 *
 * There are two kinds. A short call is answered into memory; at most HTTP_CALLS_AT_ONCE are under
 * way, the rest wait. A stream passes its bytes on as they arrive, for any length of time. Over
 * HTTP/2 the short calls to one server share a connection, and its streams share others, up to a
 * hundred on each: docs/design/0014.
 *
 * Nothing blocks: a call begins in the next turn of the loop and ends with one call of `on_done`.
 * Errors name the server ("https://host:port"), never a path, a header or a body, which may contain
 * secrets. Redirects are not followed. */
#pragma once

#include "base/err.h"
#include "http/request.h"
#include "io/loop.h"

#include <stdbool.h>

#define HTTP_CALLS_AT_ONCE 64 /* short calls under way; servers allow 100 on one connection */

struct http_client; /* connections to any number of servers, kept open for later calls */
struct http_call; /* one request under way */

/* The user agent is copied. Returns ERR_UNSUPPORTED if libcurl lacks required features. */
int http_client_new(struct loop *loop, const char *user_agent, struct http_client **ret_client,
		    struct err *err) MUST_USE;
/* Cancels all calls. Do not call it from a callback of one of them. NULL is fine. */
void http_client_free(struct http_client *client);

/* Starts a call. All errors are reported by `on_done`. */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request);
/* Cancels a call; no callback follows. It may be called from anywhere, including the call's own
 * callbacks. NULL is fine. */
void http_call_cancel(struct http_call *call);

/* The server's clock minus ours, from the Date of its answer, to the second. Available from the
 * first byte of a stream. Returns false if there is no Date. */
bool http_call_server_time(const struct http_call *call, msec *ret_ahead);
/* The value of the `index`th header of that name in the answer; NULL: no more. */
const char *http_answer_header(const struct http_answer *answer, const char *name, size_t index);

/* The library and its dependencies, "libcurl/7.88.1 OpenSSL/3.0.19 …". */
const char *http_library(void);
