/* What is known of one WebSocket. Its handshake (websocket_upgrade.h), its frames
 * (websocket_frames.h) and its turns (websocket_turns.c) include this. */
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
	struct text out; /* the head, and then frames, until they are sent */
	size_t n_sent;
	struct text in; /* the head of the answer and what came behind it */
	size_t n_taken; /* of that, by wslay */
	struct websocket_answer answer;
	struct wslay_event_context *framing; /* NULL until it is open */

	struct loop_watch *timer, *soon; /* for time limits; for a turn at once */
	msec heard_at; /* on the clock that never jumps, as all times here */
	msec asked_at; /* for a sign of life; 0: never yet */
	bool is_sending; /* a part of `out` did not go so far: the same bytes have to follow */
	bool is_in_turn, is_cancelled, is_paused, was_full, wants_close;
	struct err err; /* why it ends */
};

/* A turn is due at once, behind what is being done. */
void websocket_ask_for_turn(const struct websocket *websocket);
/* What is written of `out` counts in n_sent. */
int websocket_write_out(struct websocket *websocket);
/* Whom errors are about. */
const char *websocket_origin(const struct websocket *websocket);
void websocket_take_random(void *bytes, size_t len);
void websocket_drop(struct text *text); /* overwrites it first */
