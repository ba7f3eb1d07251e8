/* Functions of a WebSocket that handshake and frames share. */
#include "http/websocket_state.h"

#include "base/mem.h"

#include <string.h>

void websocket_ask_for_turn(const struct websocket *websocket)
{
	loop_timer_arm_after(websocket->soon, 0);
}

int websocket_write_out(struct websocket *websocket)
{
	const struct text *out = &websocket->out;
	size_t taken = 1;
	int rc = 0;

	for (; !rc && taken && websocket->n_sent < out->len; websocket->n_sent += taken)
		rc = http_connection_write(websocket->connection, out->bytes + websocket->n_sent,
					   out->len - websocket->n_sent, &taken, &websocket->err);
	return rc;
}

const char *websocket_origin(const struct websocket *websocket)
{
	const char *origin = http_connection_target(websocket->connection)->origin;

	return origin ? origin : "the server";
}

void websocket_drop(struct text *text)
{
	if (text->bytes)
		explicit_bzero(text->bytes, text->len);
	text_done(text);
}
