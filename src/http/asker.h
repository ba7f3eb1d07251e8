/* One HTTP/1.1 server that is asked one question after the other, on a connection that is kept: the
 * client of our own servers. This one is over libevent's evhttp, without TLS and proxies, and a
 * twentieth of the size in memory of http/https_asker.h, which is over libcurl. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stddef.h>

/* The first member of each kind of it. */
struct http_asker {
	const struct http_asker_functions *functions;
};

struct http_asker_functions {
	/* POSTs JSON, or GETs without a body (NULL). A question that is under way is given up for
	 * it, and its answer is not told. */
	void (*ask)(struct http_asker *asker, const char *path, const void *body, size_t len);
	void (*free)(struct http_asker *asker);
};

/* `status` is that of HTTP, and the bytes live until this returns; or 0 and `err` says why there is
 * no answer: ERR_UNREACHABLE; with TLS also ERR_IO, and ERR_REFUSED for a server that is not the
 * one it is taken for. May ask again, but not free the asker. */
typedef void (*http_asker_fn)(int status, const void *bytes, size_t len, const struct err *err,
			      void *data);

/* Texts are copied. */
struct http_asker_settings {
	const char *host; /* of the server, as its certificate names it */
	const char *address; /* of that host */
	int port;
	const char *token; /* a bearer token; NULL: none */
	const char *pin; /* as in struct http_trust_parts */
	const char
		*pin_advice; /* behind the sentence that the server has another key; NULL: none */
	size_t answer_limit; /* bytes; a longer one is none */
	msec patience; /* for an answer; at least a second */
	http_asker_fn on_answer;
	void *data;
};

typedef int (*http_asker_new_fn)(struct loop *loop, const struct http_asker_settings *settings,
				 struct http_asker **ret_asker, struct err *err);

/* An http_asker_new_fn, which always succeeds. */
int http_asker_new(struct loop *loop, const struct http_asker_settings *settings,
		   struct http_asker **ret_asker, struct err *err) MUST_USE;
