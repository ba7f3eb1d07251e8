/* Messages as frames, by wslay. */
#include "http/websocket_frames.h"

#include "base/mem.h"
#include "io/random.h"

#include <string.h>
#include <wslay/wslay.h>

#define BATCH ((size_t) 64 * 1024) /* bytes of frames per write */
#define MOST_WAITING 1000 /* messages to send, including pongs, before reading continues */

static ssize_t on_websocket_read(wslay_event_context_ptr framing, uint8_t *bytes, size_t size,
				 int flags, void *data)
{
	struct websocket *websocket = data;
	size_t len = websocket->in.len - websocket->n_taken;
	int rc = 0;

	(void) flags;
	if (websocket->is_paused || websocket->is_cancelled || websocket_is_flooded(websocket)) {
		wslay_event_set_error(framing, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	if (len) { /* bytes after the head */
		len = len < size ? len : size;
		memcpy(bytes, websocket->in.bytes + websocket->n_taken, len);
		websocket->n_taken += len;
		return (ssize_t) len;
	}
	rc = http_connection_read(websocket->connection, bytes, size, &len, &websocket->err);
	if (rc < 0 || !len) {
		wslay_event_set_error(framing,
				      rc < 0 ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	websocket->heard_at = loop_monotonic_now();
	return (ssize_t) len;
}

/* Sends all added frames with one write: wslay emits 4 KiB at a time, and each would be its own TLS
 * record and system call. */
static int send_out(struct websocket *websocket)
{
	int rc = websocket_write_out(websocket);

	websocket->is_sending = websocket->n_sent < websocket->out.len;
	if (!websocket->is_sending) {
		text_clear(&websocket->out);
		websocket->n_sent = 0;
	}
	return rc;
}

static ssize_t on_frame_send(wslay_event_context_ptr framing, const uint8_t *bytes, size_t len,
			     int flags, void *data)
{
	struct websocket *websocket = data;
	int rc = 0;

	(void) flags;
	if (websocket->is_sending || websocket->out.len >= BATCH)
		rc = send_out(websocket);
	if (rc < 0 || websocket->is_sending) {
		wslay_event_set_error(framing,
				      rc < 0 ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	text_add_bytes(&websocket->out, bytes, len);
	return (ssize_t) len;
}

static int on_frame_mask(wslay_event_context_ptr framing, uint8_t *bytes, size_t len, void *data)
{
	(void) framing;
	(void) data;
	random_bytes(bytes, len);
	return 0;
}

static void on_websocket_message(wslay_event_context_ptr framing,
				 const struct wslay_event_on_msg_recv_arg *message, void *data)
{
	struct websocket *websocket = data;

	(void) framing;
	if (wslay_is_ctrl_frame(message->opcode) || websocket->is_cancelled)
		return;
	websocket->request.on_message(message->msg_length ? (const char *) message->msg : "",
				      message->msg_length, websocket->request.data);
}

void websocket_open_framing(struct websocket *websocket)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_websocket_read,
		.send_callback = on_frame_send,
		.genmask_callback = on_frame_mask,
		.on_msg_recv_callback = on_websocket_message,
	};

	if (wslay_event_context_client_init(&websocket->framing, &callbacks, websocket))
		mem_abort();
	wslay_event_config_set_max_recv_msg_length(websocket->framing, websocket->request.limit);
	websocket->heard_at = loop_monotonic_now();
}

void websocket_free_framing(struct websocket *websocket)
{
	if (websocket->framing)
		wslay_event_context_free(websocket->framing);
}

unsigned websocket_closing_code(const struct websocket *websocket)
{
	return websocket->framing ? wslay_event_get_status_code_received(websocket->framing) : 0;
}

bool websocket_wants_write(const struct websocket *websocket)
{
	return wslay_event_want_write(websocket->framing);
}

bool websocket_is_flooded(const struct websocket *websocket)
{
	return wslay_event_get_queued_msg_count(websocket->framing) > MOST_WAITING;
}

static void break_rules(struct websocket *websocket)
{
	err_set(&websocket->err, ERR_INVALID,
		"cannot understand %s: it breaks the WebSocket protocol",
		websocket_origin(websocket));
}

/* The error that wslay found, and reported to the server when it closed. */
static void evaluate_close(struct websocket *websocket)
{
	switch (wslay_event_get_status_code_sent(websocket->framing)) {
	case WSLAY_CODE_MESSAGE_TOO_BIG:
		err_set(&websocket->err, ERR_LIMIT, "a message of %s is larger than %zu bytes",
			websocket_origin(websocket), websocket->request.limit);
		return;
	case WSLAY_CODE_PROTOCOL_ERROR:
	case WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA:
		break_rules(websocket);
		return;
	default:
		return;
	}
}

/* Why the framing failed: the connection's error, or else wslay's code. */
static void set_framing_error(struct websocket *websocket, int rc)
{
	if (rc == WSLAY_ERR_NOMEM)
		mem_abort();
	if (!websocket->err.code)
		break_rules(websocket);
}

/* A close frame overtakes queued messages, so it has to wait. */
static void close_when_sent(struct websocket *websocket)
{
	if (!websocket->wants_close || wslay_event_get_queued_msg_count(websocket->framing))
		return;
	websocket->wants_close = false;
	wslay_event_queue_close(websocket->framing, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
	websocket_ask_for_turn(websocket);
}

bool websocket_exchange(struct websocket *websocket)
{
	wslay_event_context_ptr framing = websocket->framing;
	int rc = wslay_event_recv(framing);

	if (websocket->is_cancelled)
		return true;
	if (!rc)
		rc = wslay_event_send(framing);
	if (!rc)
		rc = send_out(websocket);
	if (rc && wslay_event_get_close_received(framing)) {
		websocket->err = (struct err){0}; /* the server did not wait for our answer */
		return true;
	}
	if (rc) {
		set_framing_error(websocket, rc);
		return true;
	}
	close_when_sent(websocket);
	bool is_over =
		wslay_event_get_close_sent(framing) && !websocket->is_sending &&
		(wslay_event_get_close_received(framing) || !wslay_event_get_read_enabled(framing));

	if (is_over)
		evaluate_close(websocket);
	return is_over;
}

void websocket_ask_for_life(struct websocket *websocket)
{
	const struct wslay_event_msg ping = {.opcode = WSLAY_PING, .msg = NULL, .msg_length = 0};

	if (wslay_event_queue_msg(websocket->framing, &ping) == 0)
		websocket_ask_for_turn(websocket);
}

void websocket_send(struct websocket *websocket, const void *bytes, size_t len)
{
	const struct wslay_event_msg message = {WSLAY_BINARY_FRAME, bytes, len};
	int rc = wslay_event_queue_msg(websocket->framing, &message);

	if (rc == WSLAY_ERR_NOMEM)
		mem_abort();
	websocket->was_full |= !websocket_has_room(websocket);
	websocket_ask_for_turn(websocket);
}

bool websocket_has_room(const struct websocket *websocket)
{
	size_t waiting = wslay_event_get_queued_msg_length(websocket->framing);

	return waiting + websocket->out.len - websocket->n_sent < WEBSOCKET_ROOM;
}
