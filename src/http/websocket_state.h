/* The state of one WebSocket, for its handshake (websocket_upgrade.h), its frames
 * (websocket_frames.h) and its turns (websocket_turns.c). */
#pragma once

#include "base/text.h"
#include "http/connection.h"
#include "http/websocket.h"
#include "http/websocket_head.h"

struct wslay_event_context;

enum websocket_state {
	WEBSOCKET_CONNECTING,
	WEBSOCKET_SENDING_HEAD,
	WEBSOCKET_READING_HEAD,
	WEBSOCKET_READING_BODY, /* of an answer that is no WebSocket */
	WEBSOCKET_OPEN,
};

struct websocket {
	struct loop *loop;
	struct websocket_request request; /* the callbacks, limits and times */
	char *user_agent;
	char **headers, **protocols; /* each ends with NULL */
	struct http_connection *connection;
	struct websocket_key key;
	enum websocket_state state;
	struct text out; /* the head and then frames, until they are sent */
	size_t n_sent;
	struct text in; /* the head of the answer and the bytes after it */
	size_t n_taken; /* of that, by wslay */
	struct websocket_answer answer;
	struct wslay_event_context *framing; /* NULL until it is open */

	struct loop_watch *timer, *soon; /* for time limits; for an immediate turn */
	instant heard_at;
	instant asked_at; /* when we last sent a ping; INSTANT_UNSET: never */
	bool is_sending; /* a part of `out` was not sent: the same bytes must follow */
	bool is_in_turn, is_cancelled, is_paused, was_full, wants_close;
	struct err err; /* why it ends */
};

/* Requests a turn as soon as the present one has ended. */
void websocket_ask_for_turn(const struct websocket *websocket);
/* Writes from `out` and advances n_sent. */
int websocket_write_out(struct websocket *websocket);
/* The server's name for errors. */
const char *websocket_origin(const struct websocket *websocket);
void websocket_drop(struct text *text); /* overwrites it first */
