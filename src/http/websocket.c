/* One function, `on_websocket_ready`, does everything that is possible now: sends the head of the
 * request, reads the head of the answer, then lets wslay read and send frames. Requests of
 * callbacks are recorded and executed at the end of the turn. */
#include "http/websocket.h"

#include "base/text.h"
#include "http/connection.h"
#include "http/websocket_head.h"
#include "io/random.h"

#include <wslay/wslay.h>

#define DEFAULT_TIMEOUT (60 * MSEC_PER_SECOND)
#define BATCH ((size_t) 64 * 1024) /* bytes of frames per write */
#define MOST_WAITING 1000 /* messages to send, including pongs, before reading continues */
#define PIECE 4096
#define SWITCHING_PROTOCOLS 101

enum websocket_state {
	WEBSOCKET_CONNECTING,
	WEBSOCKET_SENDING_HEAD,
	WEBSOCKET_READING_HEAD,
	WEBSOCKET_READING_BODY, /* of an answer that is no WebSocket */
	WEBSOCKET_OPEN,
};

struct websocket {
	struct websocket_request request; /* the callbacks, limits, times and protocols */
	struct http_connection *connection;
	struct websocket_key key;
	enum websocket_state state;
	struct text out; /* the head and then frames, until they are sent */
	size_t n_sent;
	struct text in; /* the head of the answer and the bytes after it */
	size_t n_taken; /* of that, by wslay */
	struct websocket_answer answer;
	wslay_event_context_ptr framing; /* NULL until it is open */

	struct loop_watch *timer, *soon; /* for time limits; for an immediate turn */
	instant heard_at;
	instant asked_at; /* when we last sent a ping; INSTANT_UNSET: never */
	bool is_sending; /* a part of `out` was not sent: the same bytes must follow */
	bool is_in_turn, is_cancelled, is_paused, was_full, wants_close;
	struct err err; /* why it ends */
};

/* Requests a turn as soon as the present one has ended. */
static void ask_for_turn(const struct websocket *websocket)
{
	loop_timer_arm_after(websocket->soon, 0);
}

/* Writes from `out` and advances n_sent. */
static int write_out(struct websocket *websocket)
{
	const struct text *out = &websocket->out;
	size_t taken = 1;
	int rc = 0;

	for (; !rc && taken && websocket->n_sent < out->len; websocket->n_sent += taken)
		rc = http_connection_write(websocket->connection, out->bytes + websocket->n_sent,
					   out->len - websocket->n_sent, &taken, &websocket->err);
	return rc;
}

/* The server's name for errors. */
static const char *origin_of(const struct websocket *websocket)
{
	const char *origin = http_connection_target(websocket->connection)->origin;

	return origin ? origin : "the server";
}

static void drop_text(struct text *text)
{
	if (text->bytes)
		explicit_bzero(text->bytes, text->len);
	text_done(text);
}

/* The handshake. */

/* Headers contain tokens, so only the text to send has them. */
static void add_head(struct websocket *websocket)
{
	const struct http_target *target = http_connection_target(websocket->connection);
	const struct websocket_head head = {
		.target = target->path,
		.host = target->place,
		.user_agent = websocket->request.user_agent,
		.headers = websocket->request.http.headers,
		.protocols = websocket->request.protocols,
	};
	uint8_t nonce[WEBSOCKET_NONCE_SIZE];

	random_bytes(nonce, sizeof(nonce));
	websocket->key = websocket_key_of(nonce);
	if (target->path)
		websocket_add_request(&websocket->out, &head, &websocket->key);
}

static int send_head(struct websocket *websocket)
{
	int rc = write_out(websocket);

	if (!rc && websocket->n_sent == websocket->out.len) {
		drop_text(&websocket->out);
		websocket->n_sent = 0;
		websocket->state = WEBSOCKET_READING_HEAD;
	}
	return rc;
}

/* Reads the server's answer, in the order of arrival. */
static int read_upgrade_answer(struct websocket *websocket, size_t head_len)
{
	int rc = websocket_read_answer(websocket->in.bytes, head_len, websocket->request.protocols,
				       &websocket->key, &websocket->answer, &websocket->err);

	if (rc < 0) {
		err_prefix(&websocket->err, "cannot understand %s", origin_of(websocket));
		return rc;
	}
	if (websocket->answer.status == SWITCHING_PROTOCOLS) {
		websocket->n_taken = head_len;
		websocket->state = WEBSOCKET_OPEN;
		return 0;
	}
	struct text body = {0};

	text_add_bytes(&body, websocket->in.bytes + head_len, websocket->in.len - head_len);
	text_done(&websocket->in);
	websocket->in = body;
	websocket->state = WEBSOCKET_READING_BODY;
	return 0;
}

/* *ret_is_new: bytes arrived. */
static int read_piece(struct websocket *websocket, bool *ret_is_new)
{
	char piece[PIECE];
	size_t len = 0;
	int rc = http_connection_read(websocket->connection, piece, sizeof(piece), &len,
				      &websocket->err);

	*ret_is_new = !rc && len;
	if (*ret_is_new)
		text_add_bytes(&websocket->in, piece, len);
	return rc;
}

/* Reads until the state says what the answer is: a WebSocket, or the body of a rejection. */
static int read_answer_head(struct websocket *websocket)
{
	bool is_new = true;

	while (is_new) {
		int rc = read_piece(websocket, &is_new);
		size_t head_len = websocket_head_length(websocket->in.bytes, websocket->in.len);

		if (rc < 0)
			return rc;
		if (head_len)
			return read_upgrade_answer(websocket, head_len);
		if (websocket->in.len > WEBSOCKET_HEAD_LIMIT)
			return err_set(&websocket->err, ERR_INVALID,
				       "cannot understand %s: its response is not HTTP",
				       origin_of(websocket));
	}
	return 0;
}

/* Returns true if the body is complete. The end of the connection also completes it. */
static bool read_body(struct websocket *websocket)
{
	size_t wanted = websocket->answer.body_len < WEBSOCKET_BODY_LIMIT
				? websocket->answer.body_len
				: WEBSOCKET_BODY_LIMIT;
	bool is_new = true;

	while (is_new && websocket->in.len < wanted)
		if (read_piece(websocket, &is_new) < 0) {
			websocket->err = (struct err){0};
			return true;
		}
	return websocket->in.len >= wanted;
}

/* Messages as frames, by wslay. */

static bool is_flooded(const struct websocket *websocket)
{
	return wslay_event_get_queued_msg_count(websocket->framing) > MOST_WAITING;
}

/* For now, or for good if `rc` is an error. */
static ssize_t stop_framing(wslay_event_context_ptr framing, int rc)
{
	wslay_event_set_error(framing, rc < 0 ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_websocket_read(wslay_event_context_ptr framing, uint8_t *bytes, size_t size,
				 int flags, void *data)
{
	struct websocket *websocket = data;
	size_t len = websocket->in.len - websocket->n_taken;
	int rc = 0;

	(void) flags;
	if (websocket->is_paused || websocket->is_cancelled || is_flooded(websocket))
		return stop_framing(framing, 0);
	if (len) { /* bytes after the head */
		len = len < size ? len : size;
		memcpy(bytes, websocket->in.bytes + websocket->n_taken, len);
		websocket->n_taken += len;
		return (ssize_t) len;
	}
	rc = http_connection_read(websocket->connection, bytes, size, &len, &websocket->err);
	if (rc < 0 || !len)
		return stop_framing(framing, rc);
	websocket->heard_at = loop_monotonic_now();
	return (ssize_t) len;
}

/* Sends all added frames with one write: wslay emits 4 KiB at a time, and each would be its own TLS
 * record and system call. */
static int send_out(struct websocket *websocket)
{
	int rc = write_out(websocket);

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
	if (rc < 0 || websocket->is_sending)
		return stop_framing(framing, rc);
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

static void open_framing(struct websocket *websocket)
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

static void break_rules(struct websocket *websocket)
{
	err_set(&websocket->err, ERR_INVALID,
		"cannot understand %s: it breaks the WebSocket protocol", origin_of(websocket));
}

/* Reads and sends as much as possible without blocking. Returns true if the WebSocket has ended,
 * properly or with an error. */
static bool exchange_frames(struct websocket *websocket)
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
	if (rc == WSLAY_ERR_NOMEM)
		mem_abort();
	if (rc && !websocket->err.code) /* else the connection's own */
		break_rules(websocket);
	if (rc)
		return true;
	/* A close frame overtakes queued messages, so it has to wait. */
	if (websocket->wants_close && !wslay_event_get_queued_msg_count(framing)) {
		websocket->wants_close = false;
		wslay_event_queue_close(framing, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
		ask_for_turn(websocket);
	}
	bool is_over =
		wslay_event_get_close_sent(framing) && !websocket->is_sending &&
		(wslay_event_get_close_received(framing) || !wslay_event_get_read_enabled(framing));

	if (!is_over)
		return false;
	/* The error that wslay found, and reported to the server when it closed. */
	uint16_t code = wslay_event_get_status_code_sent(framing);

	if (code == WSLAY_CODE_MESSAGE_TOO_BIG)
		err_set(&websocket->err, ERR_LIMIT, "a message of %s is larger than %zu bytes",
			origin_of(websocket), websocket->request.limit);
	else if (code == WSLAY_CODE_PROTOCOL_ERROR || code == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA)
		break_rules(websocket);
	return true;
}

void websocket_send(struct websocket *websocket, const void *bytes, size_t len)
{
	const struct wslay_event_msg message = {WSLAY_BINARY_FRAME, bytes, len};
	int rc = wslay_event_queue_msg(websocket->framing, &message);

	if (rc == WSLAY_ERR_NOMEM)
		mem_abort();
	websocket->was_full |= !websocket_has_room(websocket);
	ask_for_turn(websocket);
}

bool websocket_has_room(const struct websocket *websocket)
{
	size_t waiting = wslay_event_get_queued_msg_length(websocket->framing);

	return waiting + websocket->out.len - websocket->n_sent < WEBSOCKET_ROOM;
}

/* Turns. */

static void websocket_free(struct websocket *websocket)
{
	if (websocket->framing)
		wslay_event_context_free(websocket->framing);
	http_connection_free(websocket->connection);
	loop_watch_free(websocket->timer);
	loop_watch_free(websocket->soon);
	websocket_answer_done(&websocket->answer);
	drop_text(&websocket->out);
	text_done(&websocket->in);
	free(websocket);
}

void websocket_cancel(struct websocket *websocket)
{
	if (!websocket)
		return;
	websocket->is_cancelled = true;
	if (!websocket->is_in_turn)
		websocket_free(websocket);
}

static void finish_websocket(struct websocket *websocket)
{
	bool is_body = websocket->state == WEBSOCKET_READING_BODY;
	wslay_event_context_ptr framing = websocket->framing;
	const struct websocket_end end = {
		.status = websocket->answer.status,
		.body = is_body ? text_of(&websocket->in) : "",
		.body_len = is_body ? websocket->in.len : 0,
		.code = framing ? wslay_event_get_status_code_received(framing) : 0,
	};

	websocket->is_in_turn = true;
	websocket->request.on_end(&end, websocket->err.code ? &websocket->err : NULL,
				  websocket->request.end_data);
	websocket_free(websocket);
}

static void end_silent_websocket(struct websocket *websocket, msec limit)
{
	struct text output_idle CLEANUP(text_done) = {0};

	text_add_duration(&output_idle, limit);
	err_set(&websocket->err, ERR_IO, "lost %s: no data for %s", origin_of(websocket),
		text_of(&output_idle));
	finish_websocket(websocket);
}

/* After half of the time the server gets a ping, and has the other half to answer. However late
 * this runs, a server without a ping is not given up. A paused WebSocket hears nothing. */
static void check_silence(struct websocket *websocket, instant now)
{
	msec limit = websocket->request.http.output_idle, half = limit / 2;
	bool is_asked = instant_is_before(websocket->heard_at, websocket->asked_at);
	instant due = is_asked ? instant_add(websocket->asked_at, limit - half)
			       : instant_add(websocket->heard_at, half);

	if (!limit)
		return;
	if (websocket->is_paused) {
		due = instant_add(now, half);
	} else if (instant_has_come(due, now) && is_asked) {
		end_silent_websocket(websocket, limit);
		return;
	} else if (instant_has_come(due, now)) {
		const struct wslay_event_msg ping = {.opcode = WSLAY_PING};

		if (wslay_event_queue_msg(websocket->framing, &ping) == 0)
			ask_for_turn(websocket);
		websocket->asked_at = now;
		due = instant_add(now, limit - half);
	}
	loop_timer_arm(websocket->timer, due);
}

/* The timer: for the answer until the WebSocket is open, then for silence. */
static void check_time(void *data)
{
	struct websocket *websocket = data;
	instant now = loop_monotonic_now();
	msec limit = websocket->request.http.timeout;
	instant due = instant_add(websocket->heard_at, limit);

	if (websocket->state == WEBSOCKET_OPEN)
		check_silence(websocket, now);
	else if (limit && instant_has_come(due, now))
		end_silent_websocket(websocket, limit);
	else if (limit)
		loop_timer_arm(websocket->timer, due);
}

static int read_head(struct websocket *websocket)
{
	int rc = read_answer_head(websocket);

	if (rc == 0 && websocket->state == WEBSOCKET_OPEN) {
		open_framing(websocket);
		loop_timer_arm_after(websocket->timer, 0);
		websocket->request.on_open(websocket, websocket->answer.protocol,
					   websocket->request.data);
	}
	return rc;
}

/* Returns true if it has ended. */
static bool advance_websocket(struct websocket *websocket)
{
	int rc = 0;

	if (websocket->state == WEBSOCKET_SENDING_HEAD)
		rc = send_head(websocket);
	if (!rc && websocket->state == WEBSOCKET_READING_HEAD)
		rc = read_head(websocket);
	if (rc < 0)
		return true;
	if (websocket->state == WEBSOCKET_READING_BODY)
		return read_body(websocket);
	return websocket->state == WEBSOCKET_OPEN && !websocket->is_cancelled &&
	       exchange_frames(websocket);
}

static void set_wants(struct websocket *websocket)
{
	bool is_open = websocket->state == WEBSOCKET_OPEN;
	bool wants_read = !is_open || (!websocket->is_paused && !is_flooded(websocket));
	bool wants_write =
		websocket->out.len || (is_open && wslay_event_want_write(websocket->framing));

	http_connection_want(websocket->connection, wants_read, wants_write);
}

/* Does everything that is possible now. */
static void on_websocket_ready(void *data)
{
	struct websocket *websocket = data;

	if (websocket->state == WEBSOCKET_CONNECTING)
		return;
	websocket->is_in_turn = true;
	bool is_over = advance_websocket(websocket);

	if (!is_over && !websocket->is_cancelled && websocket->was_full &&
	    websocket_has_room(websocket)) {
		websocket->was_full = false;
		if (websocket->request.on_room)
			websocket->request.on_room(websocket->request.data);
	}
	websocket->is_in_turn = false;
	if (websocket->is_cancelled)
		websocket_free(websocket);
	else if (is_over)
		finish_websocket(websocket);
	else
		set_wants(websocket);
}

/* The connection is open, or failed. */
static void on_connected(const struct err *err, void *data)
{
	struct websocket *websocket = data;

	if (err) {
		websocket->err = *err;
		finish_websocket(websocket);
		return;
	}
	websocket->state = WEBSOCKET_SENDING_HEAD;
	websocket->heard_at = loop_monotonic_now();
	loop_timer_arm_after(websocket->timer, 0);
	ask_for_turn(websocket);
}

struct websocket *websocket_new(struct loop *loop, const struct websocket_request *request)
{
	struct websocket *websocket = mem_new(sizeof(*websocket));

	websocket->request = *request;
	if (!request->limit)
		websocket->request.limit = WEBSOCKET_MESSAGE_LIMIT;
	if (!request->http.timeout)
		websocket->request.http.timeout = DEFAULT_TIMEOUT;
	websocket->timer = loop_new_timer(loop, check_time, websocket);
	websocket->soon = loop_new_timer(loop, on_websocket_ready, websocket);
	websocket->connection = http_connection_new(loop, &request->http, on_connected,
						    on_websocket_ready, websocket);
	add_head(websocket);
	return websocket;
}

void websocket_close(struct websocket *websocket)
{
	websocket->wants_close = true;
	ask_for_turn(websocket);
}

void websocket_pause(struct websocket *websocket)
{
	websocket->is_paused = true;
	ask_for_turn(websocket);
}

void websocket_resume(struct websocket *websocket)
{
	websocket->is_paused = false;
	websocket->heard_at = loop_monotonic_now();
	ask_for_turn(websocket);
}
