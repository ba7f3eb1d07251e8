/* Requests over HTTP and HTTPS on the loop. The one door to libcurl; knows nothing of Kubernetes.
 *
 * There are two kinds. A short call is answered into memory; short calls to one server share one
 * connection (HTTP/2) and at most HTTP_CALLS_AT_ONCE are under way, the rest waits its turn. A
 * stream hands its bytes on as they come, for as long as it takes; it has a connection of its own
 * (HTTP/1.1), so that a reader who is slow holds nobody else up: docs/design/0012.
 *
 * Nothing here waits: a call begins in the next turn of the loop and ends with one call of
 * `on_done`. Errors name the server ("https://host:port"), never a path, a header or a body, in
 * which secrets may stand. Redirects are not followed. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define HTTP_CALLS_AT_ONCE 64 /* short calls under way; servers allow 100 on one connection */

struct http_client; /* connections to any number of servers, kept open for the next call */
struct http_call; /* one request under way */
struct http_answer;

/* How a server proves who it is, and we to it. PEM texts, which live as long as the call. */
struct http_trust {
	const char *authority; /* certificates to trust, alone; NULL: the system's */
	const char *client_certificate; /* NULL: none */
	const char *client_key;
	const char *server_name; /* whom its certificate must name; NULL: the URL's host */
	bool skips_verify; /* takes any certificate */
};

/* `answer` is NULL when there is none: `err` says why, with one of
 * ERR_UNREACHABLE no connection, or it was lost, or a time limit passed;
 * ERR_REFUSED the server's certificate, or ours, was not accepted;
 * ERR_LIMIT the answer is larger than the limit; ERR_INVALID no such URL, or not HTTP.
 * Otherwise `err` is NULL, whatever the status: 404 is an answer. The answer lives until `on_done`
 * returns, and so does the call. */
typedef void (*http_done_fn)(const struct http_answer *answer, const struct err *err, void *data);
/* Bytes of a stream, as they come. May pause or cancel the call. */
typedef void (*http_bytes_fn)(const char *bytes, size_t len, void *data);

/* All is copied when the call begins, but `trust`. */
struct http_request {
	const char *method; /* "GET" … */
	const char *url; /* absolute, http or https, without user and password */
	const char *const *headers; /* "Name: value", ends with NULL; NULL: none */
	const char *body; /* NULL: none */
	size_t body_len;
	const struct http_trust *trust; /* NULL: the system's authorities, no certificate of ours */
	const char *proxy; /* http, https or socks5 URL; NULL: what the environment says */
	bool takes_compressed; /* the server may compress its answer */

	/* Bytes of a 2xx answer go here, and the call is a stream; what another answer says is
	 * kept in memory all the same. NULL: a short call. */
	http_bytes_fn on_bytes;
	http_done_fn on_done;
	void *data;

	size_t limit; /* bytes of the answer that are kept in memory; 0: HTTP_ANSWER_LIMIT */
	msec connect_timeout; /* until the connection stands, TLS and all; 0: 10 s */
	msec timeout; /* until all has come; 0: 60 s for a short call, no limit for a stream */
	msec silence; /* of a stream, from the request on, without a byte while it is not paused,
			 after which its connection counts as lost; 0: no limit */
};

#define HTTP_ANSWER_LIMIT ((size_t) 16 * 1024 * 1024)

struct http_answer {
	int status; /* 200 … 599 */
	const char *body; /* followed by a NUL; "" for what a stream handed on */
	size_t body_len;
	msec retry_after; /* how long the server asks to wait; -1: it does not say */
	int version; /* of HTTP: 1 or 2 */
	struct http_call *call; /* for http_answer_header */
};

/* The user agent is copied. ERR_UNSUPPORTED: libcurl lacks what is needed. */
int http_client_new(struct loop *loop, const char *user_agent, struct http_client **ret_client,
		    struct err *err) MUST_USE;
/* Cancels all calls. Not from a callback of one of them. NULL is fine. */
void http_client_free(struct http_client *client);

/* Begins a call. Everything that can go wrong is told by `on_done`. */
struct http_call *http_call_new(struct http_client *client, const struct http_request *request);
/* Ends it without another callback; from anywhere, its own callbacks included. NULL is fine. */
void http_call_cancel(struct http_call *call);
/* Of a stream: nothing is read from its connection until it is resumed, so that the server feels
 * it. At most what was read already is kept in memory meanwhile. */
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);

/* The value of a header of the answer, the `index`th of that name; NULL when there are no more. */
const char *http_answer_header(const struct http_answer *answer, const char *name, size_t index);

/* The library and what it stands on, "libcurl/7.88.1 OpenSSL/3.0.19 …". */
const char *http_library(void);
