/* A bare connection to an HTTP server, made as the HTTP client makes its own (proxies, TLS, trust):
 * bytes to and fro, for protocols that begin as HTTP/1.1 and go on as something else.
 *
 * The server is named in errors as http/request.h says. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/request.h"
#include "http/target.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct http_connection;

/* The connection stands (err is NULL), or cannot be made. */
typedef void (*http_opened_fn)(const struct err *err, void *data);
/* It can be read or written, as was wanted. */
typedef void (*http_ready_fn)(void *data);

/* Of the request count where it goes, the trust, the proxy, the headers (which are only checked)
 * and connect_timeout. What is wrong with it `on_opened` tells, from the loop. */
struct http_connection *http_connection_new(struct loop *loop, const struct http_request *request,
					    http_opened_fn on_opened, http_ready_fn on_ready,
					    void *data) MUST_USE;
/* Closes it; from its own callbacks too. NULL is fine. */
void http_connection_free(struct http_connection *connection);

/* Empty when the URL could not be read. */
const struct http_target *http_connection_target(const struct http_connection *connection);
/* When `on_ready` is called. Read until nothing is left before wanting to: TLS may hold bytes that
 * the socket no longer has. */
void http_connection_want(struct http_connection *connection, bool wants_read, bool wants_write);
/* What is there, at most `size` bytes: none with 0 when there is nothing yet. ERR_IO: it is lost,
 * or was closed by the server. */
int http_connection_read(struct http_connection *connection, void *bytes, size_t size,
			 size_t *ret_len, struct err *err) MUST_USE;
/* Sends as much as there is room for, perhaps nothing. ERR_IO. */
int http_connection_write(struct http_connection *connection, const void *bytes, size_t len,
			  size_t *ret_taken, struct err *err) MUST_USE;
