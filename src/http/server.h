/* An HTTP/1.1 server on the loop, over libevent's evhttp. It knows nothing of what is served.
 *
 * What a caller may take is limited from the start, and what pages of browsers and confused proxies
 * send is refused (http/refusal.h). A call is answered at once or held and answered
 * later; a caller that hangs up meanwhile is noticed. The program ignores SIGPIPE. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "http/listening.h"
#include "io/loop.h"

#include <stddef.h>

struct http_server;
/* One request, until it is answered or its caller is gone. */
struct http_call;
/* What makes connections of TLS (http/tls.h). */
struct http_tls;

typedef void (*http_call_fn)(struct http_call *call, void *data);

struct http_server_settings {
	const struct listening *listening; /* borrowed; it stays open */
	const struct http_tls *tls; /* NULL: none; outlives the server */
	const char *const *hosts; /* that callers may name besides IP addresses, up to NULL; others
				     are answered 421; NULL: any; outlives the server */
	size_t header_limit; /* bytes of a request's line and headers; more is answered 400 */
	size_t body_limit; /* bytes of its body; more is answered 413 */
	size_t connection_limit; /* one more takes the place of the connection that has waited
				    longest for a request; while all have calls it waits in the
				    kernel */
	msec patience; /* a connection without a whole request for so long, or whose answer is
			  not taken, is closed; at least a second */
	http_call_fn on_call; /* answers the call or holds it; else it is answered 500 */
	/* A connection has ended on which no call waited, but there was one, to this path. NULL:
	 * nobody wants to know. */
	void (*on_end)(const char *path, void *data);
	void *data;
};

/* For `hosts`: localhost alone. */
extern const char *const http_local_hosts[];
/* The same for a loopback address; else NULL: others call by names that nobody here knows, of a
 * Service or a proxy. */
const char *const *http_hosts_of(const struct listening *listening);

int http_server_new(struct loop *loop, const struct http_server_settings *settings,
		    struct http_server **ret_server, struct err *err) MUST_USE;
/* Not from on_call, on_end or on_gone. Calls that are held are gone with it: their on_gone is
 * called. */
void http_server_free(struct http_server *server); /* NULL is fine */
size_t http_server_connections(const struct http_server *server);

/* What the caller wants; borrowed until the call is answered. */
const char *http_call_method(const struct http_call *call); /* "GET" */
const char *http_call_path(const struct http_call *call); /* as it was sent, without the query */
const char *http_call_query(const struct http_call *call); /* behind the '?'; NULL: none */
/* By its name in any case; NULL: there is none. */
const char *http_call_header(const struct http_call *call, const char *name);
const void *http_call_body(struct http_call *call, size_t *ret_len); /* NULL when it is empty */

/* It is answered later; of a call that is held already the new callback counts. `on_gone` is called
 * once if the caller hangs up before that; then there is no call any more. A caller that sends no
 * more (it has shut down its side) has hung up. */
void http_call_hold(struct http_call *call, http_call_fn on_gone, void *data);
/* Before the answer or its beginning, any number of times. */
void http_call_add_header(struct http_call *call, const char *name, const char *value);
/* Answers, and there is no call any more. `type` is the Content-Type; bytes are copied. */
void http_call_answer(struct http_call *call, int status, const char *type, const void *bytes,
		      size_t len);

/* The body of an answer to many calls, which is in memory once however many callers have yet to
 * take it. */
struct http_body;
struct http_body *http_body_new(const void *bytes, size_t len) MUST_USE; /* which are copied */
void http_body_free(struct http_body *body); /* calls that were answered with it keep it */
void http_call_answer_body(struct http_call *call, int status, const char *type,
			   struct http_body *body);

/* Begins the answer of a held call, whose bytes come one after the other until http_call_end.
 * `on_taken` is called whenever the caller has taken all that was sent so far. A caller that takes
 * nothing for as long as the server's patience is gone. */
void http_call_begin(struct http_call *call, int status, const char *type, http_call_fn on_taken);
void http_call_send(struct http_call *call, const void *bytes, size_t len);
/* Bytes that were sent and are not taken: who sends on without an end minds them. */
size_t http_call_waiting(const struct http_call *call);
/* And there is no call any more. */
void http_call_end(struct http_call *call);
