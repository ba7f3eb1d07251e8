/* Sends the head of the request and reads the server's answer: a WebSocket, or the body of a
 * rejection. */
#include "http/websocket_upgrade.h"
#include "io/random.h"

#define PIECE 4096
#define SWITCHING_PROTOCOLS 101

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

void websocket_begin_head(struct websocket *websocket)
{
	const struct websocket_head head = head_of(websocket);
	uint8_t nonce[WEBSOCKET_NONCE_SIZE];

	random_bytes(nonce, sizeof(nonce));
	websocket->key = websocket_key_of(nonce);
	websocket_add_request(&websocket->out, &head, &websocket->key);
	websocket->state = WEBSOCKET_SENDING_HEAD;
	websocket->heard_at = loop_monotonic_now();
}

int websocket_send_head(struct websocket *websocket)
{
	int rc = websocket_write_out(websocket);

	if (!rc && websocket->n_sent == websocket->out.len) {
		websocket_drop(&websocket->out);
		websocket->n_sent = 0;
		websocket->state = WEBSOCKET_READING_HEAD;
	}
	return rc;
}

/* Reads the server's answer, in the order of arrival. */
static int read_upgrade_answer(struct websocket *websocket, size_t head_len)
{
	const struct websocket_head head = head_of(websocket);
	int rc = websocket_read_answer(websocket->in.bytes, head_len, &head, &websocket->key,
				       &websocket->answer, &websocket->err);

	if (rc < 0) {
		err_prefix(&websocket->err, "cannot understand %s", websocket_origin(websocket));
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

int websocket_read_head(struct websocket *websocket)
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
				       websocket_origin(websocket));
	}
	return 0;
}

bool websocket_read_body(struct websocket *websocket)
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
