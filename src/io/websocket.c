/* One function, `turn`, does what can be done now: the head of the request goes, the head of the
 * answer comes, and from there on wslay says what is read and sent. What callbacks ask for is
 * noted, and done when the turn ends. */
#include "io/websocket.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/http_connection.h"
#include "io/websocket_head.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#define DEFAULT_TIMEOUT (60 * MSEC_PER_SECOND)
#define PIECE 4096
#define BATCH ((size_t) 64 * 1024) /* bytes of frames that are written at once */
#define SWITCHING_PROTOCOLS 101
#define MOST_WAITING 1000 /* messages to be sent, pongs among them, before reading goes on */

enum state {
	STATE_CONNECTING,
	STATE_SENDING_HEAD,
	STATE_READING_HEAD,
	STATE_READING_BODY, /* of an answer that is no WebSocket */
	STATE_OPEN,
};

struct websocket {
	struct loop *loop;
	struct websocket_request request; /* the callbacks, limits and times */
	char *user_agent;
	char **headers, **protocols; /* each ends with NULL */
	struct http_connection *connection;
	struct websocket_key key;
	enum state state;
	struct text out; /* the head, until it is sent */
	size_t n_sent;
	struct text in; /* the head of the answer and what came behind it */
	size_t n_taken; /* of that, by wslay */
	struct websocket_answer answer;
	wslay_event_context_ptr framing; /* NULL until it is open */

	struct loop_watch *timer, *soon; /* for time limits; for a turn at once */
	msec heard_at; /* on the clock that never jumps */
	bool is_sending; /* a part of `out` did not go so far: the same bytes have to follow */
	bool is_in_turn, is_cancelled, is_paused, was_full, wants_close;
	struct err err; /* why it ends */
};

static void turn(void *data);
static void check_time(void *data);
static void begin_head(const struct err *err, void *data);

static char **copy_list(const char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	char **copy = mem_new_array(count + 1, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_copy_text(list[i]);
	return copy;
}

/* Headers hold tokens: what was in them is overwritten. */
static void free_list(char **list)
{
	for (size_t i = 0; list[i]; i++) {
		explicit_bzero(list[i], strlen(list[i]));
		free(list[i]);
	}
	free(list);
}

static void forget(struct text *text)
{
	if (text->bytes)
		explicit_bzero(text->bytes, text->len);
	text_done(text);
}

struct websocket *websocket_new(struct loop *loop, const struct websocket_request *request)
{
	struct websocket *websocket = mem_new(sizeof(*websocket));

	websocket->loop = loop;
	websocket->request = *request;
	if (!request->limit)
		websocket->request.limit = WEBSOCKET_MESSAGE_LIMIT;
	if (!request->http.timeout)
		websocket->request.http.timeout = DEFAULT_TIMEOUT;
	websocket->user_agent = mem_copy_text(request->user_agent);
	websocket->headers = copy_list(request->http.headers);
	websocket->protocols = copy_list(request->protocols);
	websocket->timer = loop_new_timer(loop, check_time, websocket);
	websocket->soon = loop_new_timer(loop, turn, websocket);
	websocket->connection =
		http_connection_new(loop, &request->http, begin_head, turn, websocket);
	return websocket;
}

static void websocket_free(struct websocket *websocket)
{
	if (websocket->framing)
		wslay_event_context_free(websocket->framing);
	http_connection_free(websocket->connection);
	loop_watch_free(websocket->timer);
	loop_watch_free(websocket->soon);
	websocket_answer_done(&websocket->answer);
	forget(&websocket->out);
	text_done(&websocket->in);
	free_list(websocket->headers);
	free_list(websocket->protocols);
	free(websocket->user_agent);
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

static const char *origin_of(const struct websocket *websocket)
{
	const char *origin = http_connection_target(websocket->connection)->origin;

	return origin ? origin : "the server";
}

static void finish(struct websocket *websocket)
{
	bool is_body = websocket->state == STATE_READING_BODY;
	const struct websocket_end end = {
		.status = websocket->answer.status,
		.body = is_body ? text_of(&websocket->in) : "",
		.body_len = is_body ? websocket->in.len : 0,
		.code = websocket->framing
				? wslay_event_get_status_code_received(websocket->framing)
				: 0,
	};

	websocket->is_in_turn = true;
	websocket->request.on_end(&end, websocket->err.code ? &websocket->err : NULL,
				  websocket->request.data);
	websocket_free(websocket);
}

static void ask_for_turn(struct websocket *websocket)
{
	loop_timer_arm(websocket->soon, loop_now());
}

static struct websocket_head head_of(const struct websocket *websocket)
{
	const struct http_target *target = http_connection_target(websocket->connection);

	return (struct websocket_head){
		.target = target->path,
		.host = target->place,
		.user_agent = websocket->user_agent,
		.headers = (const char *const *) websocket->headers,
		.protocols = (const char *const *) websocket->protocols,
	};
}

static void take_random(void *bytes, size_t len)
{
	if (getrandom(bytes, len, 0) != (ssize_t) len)
		mem_end(); /* not for so few bytes */
}

/* The connection stands, or does not. */
static void begin_head(const struct err *err, void *data)
{
	struct websocket *websocket = data;
	uint8_t nonce[WEBSOCKET_NONCE_SIZE];

	if (err) {
		websocket->err = *err;
		finish(websocket);
		return;
	}
	const struct websocket_head head = head_of(websocket);

	take_random(nonce, sizeof(nonce));
	websocket->key = websocket_key_of(nonce);
	websocket_add_request(&websocket->out, &head, &websocket->key);
	websocket->state = STATE_SENDING_HEAD;
	websocket->heard_at = loop_monotonic_now();
	check_time(websocket);
	ask_for_turn(websocket);
}

/* What is written of `out` counts in n_sent. */
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

static int send_head(struct websocket *websocket)
{
	int rc = write_out(websocket);

	if (!rc && websocket->n_sent == websocket->out.len) {
		forget(&websocket->out);
		websocket->n_sent = 0;
		websocket->state = STATE_READING_HEAD;
	}
	return rc;
}

static ssize_t take_bytes(wslay_event_context_ptr framing, uint8_t *bytes, size_t size, int flags,
			  void *data)
{
	struct websocket *websocket = data;
	size_t len = websocket->in.len - websocket->n_taken;
	int rc = 0;

	(void) flags;
	if (websocket->is_paused || websocket->is_cancelled ||
	    wslay_event_get_queued_msg_count(framing) > MOST_WAITING) {
		wslay_event_set_error(framing, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	if (len) { /* came behind the head */
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

/* What frames were added goes at once: wslay hands out 4 KiB at a time, and each would be a record
 * of TLS and a call of its own. */
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

static ssize_t give_bytes(wslay_event_context_ptr framing, const uint8_t *bytes, size_t len,
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

static int give_mask(wslay_event_context_ptr framing, uint8_t *bytes, size_t len, void *data)
{
	(void) framing;
	(void) data;
	take_random(bytes, len);
	return 0;
}

static void take_message(wslay_event_context_ptr framing,
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
		.recv_callback = take_bytes,
		.send_callback = give_bytes,
		.genmask_callback = give_mask,
		.on_msg_recv_callback = take_message,
	};

	if (wslay_event_context_client_init(&websocket->framing, &callbacks, websocket))
		mem_end();
	wslay_event_config_set_max_recv_msg_length(websocket->framing, websocket->request.limit);
	websocket->state = STATE_OPEN;
	websocket->heard_at = loop_monotonic_now();
	check_time(websocket);
	websocket->request.on_open(websocket->answer.protocol, websocket->request.data);
}

/* What the server answers, in the order in which it came. */
static int read_answer(struct websocket *websocket, size_t head_len)
{
	const struct websocket_head head = head_of(websocket);
	int rc = websocket_read_answer(websocket->in.bytes, head_len, &head, &websocket->key,
				       &websocket->answer, &websocket->err);

	if (rc < 0) {
		err_prefix(&websocket->err, "cannot understand %s", origin_of(websocket));
		return rc;
	}
	if (websocket->answer.status == SWITCHING_PROTOCOLS) {
		websocket->n_taken = head_len;
		open_framing(websocket);
		return 0;
	}
	struct text body = {0};

	text_add_bytes(&body, websocket->in.bytes + head_len, websocket->in.len - head_len);
	text_done(&websocket->in);
	websocket->in = body;
	websocket->state = STATE_READING_BODY;
	return 0;
}

/* *ret_is_new: something came. */
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

static int read_head(struct websocket *websocket)
{
	bool is_new = true;

	while (is_new) {
		int rc = read_piece(websocket, &is_new);
		size_t head_len = websocket_head_length(websocket->in.bytes, websocket->in.len);

		if (rc < 0)
			return rc;
		if (head_len)
			return read_answer(websocket, head_len);
		if (websocket->in.len > WEBSOCKET_HEAD_LIMIT)
			return err_set(&websocket->err, ERR_INVALID,
				       "cannot understand %s: its answer does not begin",
				       origin_of(websocket));
	}
	return 0;
}

/* True: all of the body is there that will be. The end of the connection is one of its ends. */
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

static void break_rules(struct websocket *websocket)
{
	err_set(&websocket->err, ERR_INVALID,
		"cannot understand %s: it does not keep to the rules of WebSocket",
		origin_of(websocket));
}

/* What wslay found wrong, and told the server when it closed. */
static void judge_close(struct websocket *websocket)
{
	switch (wslay_event_get_status_code_sent(websocket->framing)) {
	case WSLAY_CODE_MESSAGE_TOO_BIG:
		err_set(&websocket->err, ERR_LIMIT, "a message of %s is larger than %zu bytes",
			origin_of(websocket), websocket->request.limit);
		return;
	case WSLAY_CODE_PROTOCOL_ERROR:
	case WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA:
		break_rules(websocket);
		return;
	default:
		return;
	}
}

/* Why the framing failed: the connection has said so, or wslay has only its name for it. */
static void judge_failure(struct websocket *websocket, int rc)
{
	if (rc == WSLAY_ERR_NOMEM)
		mem_end();
	if (!websocket->err.code)
		break_rules(websocket);
}

/* A close overtakes what waits to be sent, so it has to wait itself. */
static void close_when_sent(struct websocket *websocket)
{
	if (!websocket->wants_close || wslay_event_get_queued_msg_count(websocket->framing))
		return;
	websocket->wants_close = false;
	wslay_event_queue_close(websocket->framing, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
	ask_for_turn(websocket);
}

/* True: it is over, properly or with an error. */
static bool exchange(struct websocket *websocket)
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
		websocket->err = (struct err){0}; /* it did not wait for our answer */
		return true;
	}
	if (rc) {
		judge_failure(websocket, rc);
		return true;
	}
	close_when_sent(websocket);
	bool is_over =
		wslay_event_get_close_sent(framing) && !websocket->is_sending &&
		(wslay_event_get_close_received(framing) || !wslay_event_get_read_enabled(framing));

	if (is_over)
		judge_close(websocket);
	return is_over;
}

/* True: it is over. */
static bool go_on(struct websocket *websocket)
{
	int rc = 0;

	if (websocket->state == STATE_SENDING_HEAD)
		rc = send_head(websocket);
	if (!rc && websocket->state == STATE_READING_HEAD)
		rc = read_head(websocket);
	if (rc < 0)
		return true;
	if (websocket->state == STATE_READING_BODY)
		return read_body(websocket);
	return websocket->state == STATE_OPEN && !websocket->is_cancelled && exchange(websocket);
}

static void set_wants(struct websocket *websocket)
{
	bool is_open = websocket->state == STATE_OPEN;
	bool wants_write =
		websocket->out.len || (is_open && wslay_event_want_write(websocket->framing));
	bool is_flooded =
		is_open && wslay_event_get_queued_msg_count(websocket->framing) > MOST_WAITING;

	http_connection_want(websocket->connection,
			     !(is_open && websocket->is_paused) && !is_flooded, wants_write);
}

static void tell_room(struct websocket *websocket)
{
	if (!websocket->was_full || !websocket_has_room(websocket))
		return;
	websocket->was_full = false;
	if (websocket->request.on_room)
		websocket->request.on_room(websocket->request.data);
}

static void turn(void *data)
{
	struct websocket *websocket = data;

	if (websocket->state == STATE_CONNECTING)
		return;
	websocket->is_in_turn = true;
	bool is_over = go_on(websocket);

	if (!is_over && !websocket->is_cancelled)
		tell_room(websocket);
	websocket->is_in_turn = false;
	if (websocket->is_cancelled)
		websocket_free(websocket);
	else if (is_over)
		finish(websocket);
	else
		set_wants(websocket);
}

static void lose(struct websocket *websocket, msec limit)
{
	struct text silence CLEANUP(text_done) = {0};

	text_add_duration(&silence, limit);
	err_set(&websocket->err, ERR_IO, "lost %s: it said nothing for %s", origin_of(websocket),
		text_of(&silence));
	finish(websocket);
}

static void ask_for_life(struct websocket *websocket)
{
	const struct wslay_event_msg ping = {.opcode = WSLAY_PING, .msg = NULL, .msg_length = 0};

	if (wslay_event_queue_msg(websocket->framing, &ping) == 0)
		ask_for_turn(websocket);
}

/* Until it is open, the answer's time limit; from there on, silence, which is asked about at half
 * time. Who does not read hears nothing. */
static void check_time(void *data)
{
	struct websocket *websocket = data;
	bool is_open = websocket->state == STATE_OPEN;
	msec limit = is_open ? websocket->request.http.silence : websocket->request.http.timeout;
	msec now = loop_monotonic_now(), passed = now - websocket->heard_at;

	if (!limit)
		return;
	if (is_open && websocket->is_paused)
		passed = 0;
	if (passed >= limit) {
		lose(websocket, limit);
		return;
	}
	if (is_open && passed >= limit / 2)
		ask_for_life(websocket);
	loop_timer_arm(
		websocket->timer,
		loop_now() + (is_open && passed < limit / 2 ? limit / 2 - passed : limit - passed));
}

void websocket_send(struct websocket *websocket, const void *bytes, size_t len)
{
	const struct wslay_event_msg message = {WSLAY_BINARY_FRAME, bytes, len};
	int rc = wslay_event_queue_msg(websocket->framing, &message);

	if (rc == WSLAY_ERR_NOMEM)
		mem_end();
	websocket->was_full |= !websocket_has_room(websocket);
	ask_for_turn(websocket);
}

bool websocket_has_room(const struct websocket *websocket)
{
	size_t waiting = wslay_event_get_queued_msg_length(websocket->framing);

	return waiting + websocket->out.len - websocket->n_sent < WEBSOCKET_ROOM;
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
