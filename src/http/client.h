/* Requests over HTTP and HTTPS on the loop. The one door to libcurl; knows nothing of Kubernetes.
 *
 * There are two kinds. A short call is answered into memory; at most HTTP_CALLS_AT_ONCE are under
 * way, the rest waits its turn. A stream hands its bytes on as they come, for as long as it takes.
 * Over HTTP/2 the short calls to one server share a connection, and its streams others, up to a
 * hundred on each: docs/design/0014.
 *
 * Nothing here waits: a call begins in the next turn of the loop and ends with one call of
 * `on_done`. Errors name the server ("https://host:port"), never a path, a header or a body, in
 * which secrets may stand. Redirects are not followed. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/request.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_CALLS_AT_ONCE 64 /* short calls under way; servers allow 100 on one connection */

struct http_client; /* connections to any number of servers, kept open for the next call */
struct http_call; /* one request under way */

/* The user agent is copied. ERR_UNSUPPORTED: libcurl lacks what is needed. */
int http_client_new(struct loop *loop, const char *user_agent, struct http_client **ret_client,
		    struct err *err) MUST_USE;
/* Cancels all calls. Not from a callback of one of them. NULL is fine. */
void http_client_free(struct http_client *client);

/* Begins a call. Everything that can go wrong is told by `on_done`. */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request);
/* Ends it without another callback; from anywhere, its own callbacks included. NULL is fine. */
void http_call_cancel(struct http_call *call);

/* How far the server's clock is ahead of ours, as the Date of its answer says to the second; from
 * the first byte of a stream on. False when it does not say. */
bool http_call_server_time(const struct http_call *call, msec *ret_ahead);
/* The value of a header of the answer, the `index`th of that name; NULL when there are no more. */
const char *http_answer_header(const struct http_answer *answer, const char *name, size_t index);

/* The library and what it stands on, "libcurl/7.88.1 OpenSSL/3.0.19 …". */
const char *http_library(void);
