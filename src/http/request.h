/* A request over HTTP as its caller writes it: whom it trusts, its URL; and the answer. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"

struct http_call;
struct http_answer;

/* How a server proves its identity to us, and we ours to it. Reference-counted, because calls under
 * way keep using the old certificate when it is renewed. PEM texts; NULL: absent. */
struct http_trust {
	const char *authority; /* the only certificates to trust; NULL: the system's */
	const char *client_certificate, *client_key;
	const char *server_name; /* the name that its certificate must have; NULL: the URL's host */
	/* The server's public key, "sha256//" and base64 (http/certificate.h), for a self-signed
	 * certificate; NULL: authorities decide. */
	const char *pin;
	bool skips_verify; /* accepts any certificate */
	int n_references;
	struct arena *arena; /* of all this */
};

/* A copy; the caller has the first reference. */
struct http_trust *http_trust_new(const struct http_trust *trust) MUST_USE;
/* Releases a reference; the last release overwrites the key. NULL is fine. */
void http_trust_free(struct http_trust *trust);

/* Reports the end of a call. `answer` is NULL if there is none. Then `err` says why:
 * ERR_UNREACHABLE no connection, the server has not seen the request; ERR_IO the connection was
 * lost, or a time limit passed, the request may have taken effect; ERR_REFUSED the server's
 * certificate, or ours, was not accepted, or may_send returned false; ERR_LIMIT the answer, or
 * its head, is larger than the limit; ERR_INVALID no such URL, or not HTTP. Otherwise `err` is
 * NULL, whatever the status: 404 is an answer. Both are set if the end of an answer was lost: it
 * has the server's status and the received part of the body. The answer and the call live until
 * `on_done` returns. A request is sent once: only the caller may repeat it. */
typedef void (*http_done_fn)(const struct http_answer *answer, const struct err *err, void *data);
/* Receives bytes of a stream as they arrive. May cancel the call. */
typedef void (*http_bytes_fn)(const char *bytes, size_t len, void *data);

/* Called when the connection is open and nothing was sent yet, which may be long after the call was
 * made. If it returns false, the call ends with ERR_REFUSED. */
typedef bool (*http_permit_fn)(void *data);

/* Everything is copied when the call is made, except the body, which must outlive the call. */
struct http_request {
	const char *method; /* "GET" … */
	const char *url; /* absolute, http or https, without user and password */
	const char *const *headers; /* "Name: value", ends with NULL; NULL: none */
	const char *body; /* NULL: none */
	size_t body_len;
	struct http_trust *trust; /* NULL: the system's authorities, no certificate of ours */
	const char *proxy; /* http, https or socks5 URL; NULL: from the environment */
	bool takes_compressed; /* the server may compress its answer */
	bool has_token; /* in a header: without TLS, it is sent only as io/port.h allows */
	bool is_urgent; /* a short call that does not wait for others */

	/* Receives the bytes of a 2xx answer, and makes the call a stream; other answers are still
	 * kept in memory. NULL: a short call. */
	http_bytes_fn on_bytes;
	http_done_fn on_done;
	http_permit_fn may_send; /* NULL: always permitted */
	void *data;

	size_t limit; /* bytes of the answer to keep in memory; 0: HTTP_ANSWER_LIMIT */
	msec connect_timeout; /* until the connection is open, including TLS; 0: 10 s */
	msec timeout; /* for the whole answer; 0: 60 s for a short call, no limit for a stream */
	msec output_idle; /* silence of a stream, from the request on, after which its connection
			     counts as lost; 0: no limit */
};

#define HTTP_ANSWER_LIMIT ((size_t) 16 * 1024 * 1024)

struct http_answer {
	int status; /* 200 … 599 */
	const char *body; /* ends with a NUL; "" for what a stream passed on */
	size_t body_len;
	msec retry_after; /* how long the server asks to wait; -1: absent */
	int version; /* HTTP version: 1 or 2 */
	struct http_call *call; /* for http_answer_header */
};

/* The parsed URL of a request. */
struct http_target {
	const char *url; /* the URL for libcurl */
	const char *origin; /* the server in messages: "https://host:port" */
	const char *place; /* "host:port", as in a Host header */
	const char *path; /* "/path?query", as in a request line */
	/* If the server's certificate must name another host than the URL, libcurl gets a URL with
	 * that name, and these two; else NULL. */
	const char *connect_to; /* "name:port:host:port" */
	const char *host_header; /* "Host: host:port" */
	bool is_loopback; /* this machine: proxies of the environment do not apply */
};

/* Its texts are in the arena. Returns ERR_INVALID if the URL is not absolute http or https, or has
 * a user name. The error does not show the URL: it may have a password. `server_name` may be
 * NULL. */
int http_target_read(const char *url, const char *server_name, struct arena *arena,
		     struct http_target *ret_target, struct err *err) MUST_USE;
