/* The messages of an open WebSocket, as frames. */
#pragma once

#include "http/websocket_state.h"

void websocket_open_framing(struct websocket *websocket);
void websocket_free_framing(struct websocket *websocket); /* no-op if there is none */
/* Reads and sends as much as possible without blocking. Returns true if the WebSocket has ended,
 * properly or with an error. */
bool websocket_exchange(struct websocket *websocket);
bool websocket_wants_write(const struct websocket *websocket);
bool websocket_is_flooded(const struct websocket *websocket); /* by queued messages */
unsigned websocket_closing_code(const struct websocket *websocket); /* the server's; 0: none */
void websocket_ask_for_life(struct websocket *websocket);
