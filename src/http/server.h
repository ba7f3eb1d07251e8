/* An HTTP/1.1 server on the loop, over libevent's evhttp. It knows nothing of what is served.
 *
 * Each caller's resources are limited from the start, and requests of browser pages and confused
 * proxies are rejected (http/refusal.h, http/framing.h). A call is answered immediately, or held
 * and answered later; a caller that hangs up is noticed. The program must ignore SIGPIPE. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "http/listening.h"
#include "http/refusal.h"
#include "io/loop.h"

#include <stdbool.h>

struct http_server;
/* One request, until it is answered or its caller has hung up. */
struct http_call;
/* Creates TLS connections (http/certificate.h). */
struct http_tls;

typedef void (*http_call_fn)(struct http_call *call, void *data);

struct http_server_settings {
	const struct listening *listening; /* borrowed; stays open */
	const struct http_tls *tls; /* NULL: none; must outlive the server */
	const char *const *hosts; /* names allowed in Host, as well as IP addresses (on loopback:
				     loopback ones), ending with NULL; others get 421; NULL: any;
				     must outlive the server */
	const struct http_access *access; /* of a caller who does not give the secret, no body is
					     read: its call has none; on_call answers it. NULL: no
					     secret is required; must outlive the server */
	size_t header_limit; /* bytes of a request's line and headers; more gets 400 */
	size_t body_limit; /* bytes of its body; more gets 413 */
	size_t connection_limit; /* a new connection above it replaces the one that has waited
				    longest for a request, or waits in the kernel if all have calls
				  */
	msec patience; /* closes a connection without a complete request, or whose answer is not
			  read, for this long; at least a second */
	http_call_fn on_call; /* answers the call or holds it; otherwise the call gets 500 */
	/* A connection ended on which a call to this path was marked by http_call_report_end, as
	 * the last that was, and which holds no call with an on_gone. NULL: no call is marked. */
	void (*on_end)(const char *path, void *data);
	void *data;
};

/* For `hosts`: localhost only. */
extern const char *const http_local_hosts[];
/* Returns http_local_hosts for a loopback address. Else NULL: callers may use unknown names, of a
 * Service or a proxy. */
const char *const *http_hosts_of(const struct listening *listening);

int http_server_new(struct loop *loop, const struct http_server_settings *settings,
		    struct http_server **ret_server, struct err *err) MUST_USE;
/* Do not call it from on_call, on_end or on_gone. Of held calls, on_gone is called. */
void http_server_free(struct http_server *server); /* NULL is fine */
size_t http_server_connections(const struct http_server *server);

/* The caller's request; borrowed until the call is answered. */
const char *http_call_method(const struct http_call *call); /* "GET" */
const char *http_call_path(const struct http_call *call); /* as it was sent, without the query */
const char *http_call_query(const struct http_call *call); /* after the '?'; NULL: none */
/* The IP address that the call comes from; "": a Unix socket. */
const char *http_call_peer(const struct http_call *call);
/* The header of this name in any case; NULL: none. */
const char *http_call_header(const struct http_call *call, const char *name);
/* Whether it has a header that only browsers send: no page or link may cause what it asks for. */
bool http_call_is_from_browser(const struct http_call *call);
const void *http_call_body(struct http_call *call, size_t *ret_len); /* NULL if empty */

/* Holds the call, to be answered later. For a call that is already held, this replaces its
 * callback. `on_gone` is called once if the caller hangs up before the answer; then the call no
 * longer exists. A caller that has shut down its sending side counts as hung up. */
void http_call_hold(struct http_call *call, http_call_fn on_gone, void *data);
/* Has the end of the call's connection reported by on_end: for a call that was accepted. Call it
 * before the answer. */
void http_call_report_end(struct http_call *call);
/* Call it before the answer or its beginning, any number of times. */
void http_call_add_header(struct http_call *call, const char *name, const char *value);
/* Answers and frees the call. `type` is the Content-Type; the bytes are copied. */
void http_call_answer(struct http_call *call, int status, const char *type, const void *bytes,
		      size_t len);

/* The body of an answer to many calls, in memory once, however many callers have yet to read it. */
struct http_body;
struct http_body *http_body_new(const void *bytes, size_t len) MUST_USE; /* copies the bytes */
void http_body_free(struct http_body *body); /* answered calls keep it as long as they need it */
void http_call_answer_body(struct http_call *call, int status, const char *type,
			   struct http_body *body);

/* Begins the answer of a held call; its bytes are sent piece by piece until http_call_end.
 * `on_taken` is called whenever the caller has read all that was sent so far. A caller that reads
 * nothing during `patience`, or meanwhile sends requests beyond the limits of one, is
 * disconnected. */
void http_call_begin(struct http_call *call, int status, const char *type, http_call_fn on_taken);
void http_call_send(struct http_call *call, const void *bytes, size_t len);
/* Bytes sent but not yet read by the caller. A sender of an endless answer must limit them. */
size_t http_call_waiting(const struct http_call *call);
/* Ends the answer and frees the call. */
void http_call_end(struct http_call *call);
