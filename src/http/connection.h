/* A bare connection to an HTTP server, made like the HTTP client's own (proxies, TLS, trust), for
 * protocols that begin as HTTP/1.1 and continue as another.
 *
 * Errors name the server as described in http/request.h. */
#pragma once

#include "base/err.h"
#include "http/request.h"
#include "io/loop.h"

#include <stdbool.h>

struct http_connection;

/* The connection is open (err is NULL), or could not be opened. */
typedef void (*http_opened_fn)(const struct err *err, void *data);
/* It can be read or written, as requested. */
typedef void (*http_ready_fn)(void *data);

/* Opens a connection. Of the request it uses the URL, the trust, the proxy, the headers (which are
 * only checked) and connect_timeout. `on_opened` reports errors, from the loop. */
struct http_connection *http_connection_new(struct loop *loop, const struct http_request *request,
					    http_opened_fn on_opened, http_ready_fn on_ready,
					    void *data) MUST_USE;
/* Closes it; also from its own callbacks. NULL is fine. */
void http_connection_free(struct http_connection *connection);

/* Empty if the URL was malformed. */
const struct http_target *http_connection_target(const struct http_connection *connection);
/* Sets when `on_ready` is called. Read until nothing is left before you want to read: TLS may hold
 * bytes that the socket no longer has. */
void http_connection_want(struct http_connection *connection, bool wants_read, bool wants_write);
/* Reads at most `size` bytes; 0 with no bytes if nothing has arrived. Returns ERR_IO if the
 * connection was lost or the server closed it. */
int http_connection_read(struct http_connection *connection, void *bytes, size_t size,
			 size_t *ret_len, struct err *err) MUST_USE;
/* Sends as much as there is room for, perhaps nothing. ERR_IO: the connection was lost. */
int http_connection_write(struct http_connection *connection, const void *bytes, size_t len,
			  size_t *ret_taken, struct err *err) MUST_USE;
