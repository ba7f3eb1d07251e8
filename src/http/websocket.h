/* A WebSocket to a server (RFC 6455), on the loop. The one door to wslay; the connection below it
 * is made as the HTTP client makes its own. Knows nothing of Kubernetes.
 *
 * Pings are answered, closing is a handshake, messages come whole however they were cut. Errors
 * name the server ("https://host:port"), never a path, a header or a message. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "http/request.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define WEBSOCKET_MESSAGE_LIMIT ((size_t) 16 * 1024 * 1024)
#define WEBSOCKET_ROOM ((size_t) 256 * 1024) /* of what waits to be sent */
#define WEBSOCKET_BODY_LIMIT ((size_t) 1024 * 1024) /* of an answer that is no WebSocket */

struct websocket;

struct websocket_end {
	/* Of HTTP; 101 when it was a WebSocket, 0 when there was no answer. With any other status
	 * the server refused, and `body` says why, as far as it could be read. */
	int status;
	const char *body; /* followed by a NUL; never NULL */
	size_t body_len;
	int code; /* with which the server closed (RFC 6455, section 7.4); 0: it did not say */
};

struct websocket_request {
	/* Where it goes, its headers, trust, proxy, connect_timeout. `timeout` is until the server
	 * has answered (0: 60 s); with `silence` the server is asked for a sign of life when it has
	 * said nothing for half of it. All else is ours. */
	struct http_request http;
	const char *user_agent;
	const char *const *protocols; /* sub-protocols, the best one first; ends with NULL; NULL:
					 none */
	size_t limit; /* bytes of one message; 0: WEBSOCKET_MESSAGE_LIMIT */

	/* It stands; `protocol` is the one that the server chose, NULL when none. */
	void (*on_open)(const char *protocol, void *data);
	void (*on_message)(const char *bytes, size_t len, void *data); /* text or binary */
	void (*on_room)(void *data); /* there is room to send again; may be NULL */
	/* The last call, once; the WebSocket is gone after it. `err` is NULL when the server closed
	 * it properly, or refused by an answer of HTTP; else as of http/request.h, ERR_LIMIT for
	 * a message that is too large, ERR_INVALID for what is against the protocol. */
	void (*on_end)(const struct websocket_end *end, const struct err *err, void *data);
	void *data;
};

/* Everything in the request but the trust is copied. */
struct websocket *websocket_new(struct loop *loop, const struct websocket_request *request);
/* Ends it at once without another callback; from anywhere, its own callbacks included. NULL is
 * fine. */
void websocket_cancel(struct websocket *websocket);

/* Sends a binary message behind those that wait, once it is open; forgotten after it was closed.
 * It is always taken: a caller that sends much asks for room before. */
void websocket_send(struct websocket *websocket, const void *bytes, size_t len);
bool websocket_has_room(const struct websocket *websocket);
/* Asks the server to close, once it is open, behind what waits to be sent. `on_end` follows when it
 * has answered. */
void websocket_close(struct websocket *websocket);

/* Nothing is read from the connection, so that the server feels it; messages of which the last
 * bytes are here already (4 KiB at most) may still come. */
void websocket_pause(struct websocket *websocket);
void websocket_resume(struct websocket *websocket);
