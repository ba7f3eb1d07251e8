/* One HTTP/1.1 server that is asked one question after the other, on a connection that is kept: the
 * client of our own servers, over libevent's evhttp. Programs that speak to clusters have
 * io/http_client.h, with TLS and proxies; this one has neither, and is a twentieth of its size in
 * memory. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stddef.h>

struct http_asker;

/* `status` is that of HTTP, and the bytes live until this returns; or 0 and `err` says why there is
 * no answer: ERR_UNREACHABLE. May ask again, but not free the asker. */
typedef void (*http_asker_fn)(int status, const void *bytes, size_t len, const struct err *err,
			      void *data);

struct http_asker_settings {
	const char *address; /* of the server, an IP address; copied */
	int port;
	size_t answer_limit; /* bytes; a longer one is none */
	msec patience; /* for an answer; at least a second */
	http_asker_fn on_answer;
	void *data;
};

struct http_asker *http_asker_new(struct loop *loop,
				  const struct http_asker_settings *settings) MUST_USE;
void http_asker_free(struct http_asker *asker); /* NULL is fine */
/* POSTs JSON. A question that is under way is given up for it, and its answer is not told. */
void http_asker_ask(struct http_asker *asker, const char *path, const void *body, size_t len);
