/* The handshake of a WebSocket on its connection: sends the head of the request and reads the
 * server's answer. websocket_head.h builds and parses the heads. */
#pragma once

#include "http/websocket_state.h"

/* The connection must be open. */
void websocket_begin_head(struct websocket *websocket);
int websocket_send_head(struct websocket *websocket);
/* Reads until the state says what the answer is: a WebSocket, or the body of a rejection. */
int websocket_read_head(struct websocket *websocket);
/* Returns true if the body is complete. The end of the connection also completes it. */
bool websocket_read_body(struct websocket *websocket);
