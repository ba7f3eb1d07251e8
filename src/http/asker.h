/* A client of our own servers: sends one HTTP/1.1 request after the other to one server, over a
 * kept connection. http_asker_new uses libevent's evhttp, without TLS and proxies. It needs a
 * twentieth of the memory of https_asker_new, which uses libcurl. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "io/loop.h"

/* The first member of every kind of asker. */
struct http_asker {
	const struct http_asker_functions *functions;
};

struct http_asker_functions {
	/* POSTs JSON, or GETs if there is no body (NULL). It cancels a request that is under way,
	 * whose answer is not reported. */
	void (*ask)(struct http_asker *asker, const char *path, const void *body, size_t len);
	void (*free)(struct http_asker *asker);
};

/* Reports the answer: `status` is the HTTP status, and the bytes live until this returns. Without
 * an answer `status` is 0 and `err` says why: ERR_UNREACHABLE; with TLS also ERR_IO, and
 * ERR_REFUSED if the server has another identity. It may ask again, but not free the asker. */
typedef void (*http_asker_fn)(int status, const void *bytes, size_t len, const struct err *err,
			      void *data);

/* Texts are copied. */
struct http_asker_settings {
	const char *host; /* of the server, as in its certificate */
	const char *address; /* of that host */
	int port;
	const char *token; /* a bearer token; NULL: none */
	const char *pin; /* as in struct http_trust */
	const char
		*pin_advice; /* appended to the error that the server has another key; NULL: none */
	size_t answer_limit; /* bytes of the body; a longer answer is an error, and so is a head of
				more than 16 KiB */
	msec patience; /* for the whole answer; at least a second */
	http_asker_fn on_answer;
	void *data;
};

typedef int (*http_asker_new_fn)(struct loop *loop, const struct http_asker_settings *settings,
				 struct http_asker **ret_asker, struct err *err);

/* An http_asker_new_fn; always succeeds. */
int http_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		   struct http_asker **ret_asker, struct err *err) MUST_USE;

/* The same with TLS, over libcurl. The server is trusted by its pin, or else by the system's
 * authorities. Only with libcurl. Returns ERR_UNSUPPORTED like http_client_new. */
int https_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		    struct http_asker **ret_asker, struct err *err) MUST_USE;
