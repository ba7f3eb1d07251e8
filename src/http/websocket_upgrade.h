/* The handshake of a WebSocket on its connection: the head of the request, and what the server
 * answers. What the heads say is websocket_head.h's. */
#pragma once

#include "http/websocket_state.h"

/* On a connection that stands. */
void websocket_begin_head(struct websocket *websocket);
int websocket_send_head(struct websocket *websocket);
/* Until the state says what the answer is: a WebSocket, or the body of a refusal. */
int websocket_read_head(struct websocket *websocket);
/* True: all of the body is there that will be. The end of the connection is one of its ends. */
bool websocket_read_body(struct websocket *websocket);
