/* A request over HTTP as its caller writes it, and the answer. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "http/trust.h"

#include <stdbool.h>
#include <stddef.h>

struct http_call;
struct http_answer;

/* `answer` is NULL when there is none: `err` says why, with one of
 * ERR_UNREACHABLE no connection: the server has not seen the request;
 * ERR_IO the connection was lost, or a time limit passed: nobody knows what the server did;
 * ERR_REFUSED the server's certificate, or ours, was not accepted, or may_send said no;
 * ERR_LIMIT the answer is larger than the limit; ERR_INVALID no such URL, or not HTTP.
 * Otherwise `err` is NULL, whatever the status: 404 is an answer. Both are there when an answer
 * began to arrive and its end was lost: the status is what the server said, the body is what came
 * of it. The answer lives until `on_done` returns, and so does the call. A
 * request is sent once: nothing is repeated but by the caller. */
typedef void (*http_done_fn)(const struct http_answer *answer, const struct err *err, void *data);
/* Bytes of a stream, as they come. May cancel the call. */
typedef void (*http_bytes_fn)(const char *bytes, size_t len, void *data);

/* Asked when the connection stands and nothing was sent yet, which may be long after the call was
 * made: false ends it with ERR_REFUSED. */
typedef bool (*http_permit_fn)(void *data);

/* All of it is copied when the call is made but the body, which lives until the call ends. */
struct http_request {
	const char *method; /* "GET" … */
	const char *url; /* absolute, http or https, without user and password */
	const char *const *headers; /* "Name: value", ends with NULL; NULL: none */
	const char *body; /* NULL: none */
	size_t body_len;
	struct http_trust *trust; /* NULL: the system's authorities, no certificate of ours */
	const char *proxy; /* http, https or socks5 URL; NULL: what the environment says */
	bool takes_compressed; /* the server may compress its answer */
	bool is_urgent; /* a short call that waits behind no other */

	/* Bytes of a 2xx answer go here, and the call is a stream; what another answer says is
	 * kept in memory all the same. NULL: a short call. */
	http_bytes_fn on_bytes;
	http_done_fn on_done;
	http_permit_fn may_send; /* NULL: it may */
	void *data;

	size_t limit; /* bytes of the answer that are kept in memory; 0: HTTP_ANSWER_LIMIT */
	msec connect_timeout; /* until the connection stands, TLS and all; 0: 10 s */
	msec timeout; /* until all has come; 0: 60 s for a short call, no limit for a stream */
	msec output_idle; /* of a stream, from the request on, without a byte, after which its
			 connection counts as lost; 0: no limit */
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
