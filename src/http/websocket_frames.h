/* The messages of a WebSocket that is open, as frames. */
#pragma once

#include "http/websocket_state.h"

void websocket_open_framing(struct websocket *websocket);
void websocket_free_framing(struct websocket *websocket); /* there may be none */
/* Reads and sends what can go now. True: it is over, properly or with an error. */
bool websocket_exchange(struct websocket *websocket);
bool websocket_wants_write(const struct websocket *websocket);
bool websocket_is_flooded(const struct websocket *websocket); /* with what waits to be sent */
unsigned websocket_closing_code(const struct websocket *websocket); /* of the server; 0: none */
void websocket_ask_for_life(struct websocket *websocket);
