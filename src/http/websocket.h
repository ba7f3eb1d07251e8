/* A WebSocket to a server (RFC 6455), on the loop. Only this module uses wslay; the connection
 * below it is made like the HTTP client's own. It knows nothing of Kubernetes.
 *
 * Pings are answered, closing is a handshake, messages arrive whole however they were fragmented.
 * Errors name the server ("https://host:port"), never a path, a header or a message. */
#pragma once

#include "base/err.h"
#include "http/request.h"
#include "io/loop.h"

#include <stdbool.h>

#define WEBSOCKET_MESSAGE_LIMIT ((size_t) 16 * 1024 * 1024)
#define WEBSOCKET_ROOM ((size_t) 256 * 1024) /* for messages waiting to be sent */
#define WEBSOCKET_BODY_LIMIT ((size_t) 1024 * 1024) /* of an answer that is no WebSocket */

struct websocket;

struct websocket_end {
	/* HTTP status: 101 for a WebSocket, 0 if there was no answer. With any other status the
	 * server rejected the request, and `body` says why, as far as it was received. */
	int status;
	const char *body; /* ends with a NUL; never NULL */
	size_t body_len;
	int code; /* the server's closing code (RFC 6455, section 7.4); 0: none */
};

struct websocket_request {
	/* URL, headers, trust, proxy and connect_timeout are used. `timeout` is until the server's
	 * answer (0: 60 s). With `output_idle`, the server gets a ping after silence for half of
	 * it. The other fields are ignored. */
	struct http_request http;
	const char *user_agent;
	const char *const *protocols; /* the best sub-protocol first; ends with NULL; NULL: none */
	size_t limit; /* bytes of one message; 0: WEBSOCKET_MESSAGE_LIMIT */

	/* The WebSocket is open; `protocol` is the server's choice, NULL: none. */
	void (*on_open)(struct websocket *websocket, const char *protocol, void *data);
	void (*on_message)(const char *bytes, size_t len, void *data); /* text or binary */
	void (*on_room)(void *data); /* there is room to send again; may be NULL */
	/* The last callback, called once; then the WebSocket is freed. `err` is NULL if the server
	 * closed it properly, or rejected the request with an HTTP answer. Else it is as in
	 * http/request.h, ERR_LIMIT (a message too large), ERR_INVALID (a protocol violation). */
	void (*on_end)(const struct websocket_end *end, const struct err *err, void *end_data);
	void *data, *end_data;
};

/* The protocols are borrowed; the rest of the request may be freed. */
struct websocket *websocket_new(struct loop *loop, const struct websocket_request *request);
/* Ends it immediately; no callback follows. It may be called from anywhere, including its own
 * callbacks. NULL is fine. */
void websocket_cancel(struct websocket *websocket);

/* Queues a binary message, to be sent once the WebSocket is open; dropped after it was closed. It
 * never fails: a caller that sends much checks for room first. */
void websocket_send(struct websocket *websocket, const void *bytes, size_t len);
bool websocket_has_room(const struct websocket *websocket);
/* Asks the server to close, once open and after the queued messages; then `on_end` follows. */
void websocket_close(struct websocket *websocket);

/* Stops reading, so that the server is slowed down. Messages whose last bytes were already received
 * (4 KiB at most) may still be delivered. */
void websocket_pause(struct websocket *websocket);
void websocket_resume(struct websocket *websocket);
