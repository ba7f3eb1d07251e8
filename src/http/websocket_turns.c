/* One function, `on_websocket_ready`, does everything that is possible now: sends the head of the
 * request, reads the head of the answer, then lets the framing read and send. Requests of callbacks
 * are recorded and executed at the end of the turn. */
#include "base/mem.h"
#include "http/websocket_frames.h"
#include "http/websocket_upgrade.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT (60 * MSEC_PER_SECOND)

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

/* Headers contain tokens, so they are overwritten. */
static void free_list(char **list)
{
	for (size_t i = 0; list[i]; i++) {
		explicit_bzero(list[i], strlen(list[i]));
		free(list[i]);
	}
	free(list);
}

static void websocket_free(struct websocket *websocket)
{
	websocket_free_framing(websocket);
	http_connection_free(websocket->connection);
	loop_watch_free(websocket->timer);
	loop_watch_free(websocket->soon);
	websocket_answer_done(&websocket->answer);
	websocket_drop(&websocket->out);
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

static void finish_websocket(struct websocket *websocket)
{
	bool is_body = websocket->state == WEBSOCKET_READING_BODY;
	const struct websocket_end end = {
		.status = websocket->answer.status,
		.body = is_body ? text_of(&websocket->in) : "",
		.body_len = is_body ? websocket->in.len : 0,
		.code = websocket_closing_code(websocket),
	};

	websocket->is_in_turn = true;
	websocket->request.on_end(&end, websocket->err.code ? &websocket->err : NULL,
				  websocket->request.data);
	websocket_free(websocket);
}

static void end_silent_websocket(struct websocket *websocket, msec limit)
{
	struct text output_idle CLEANUP(text_done) = {0};

	text_add_duration(&output_idle, limit);
	err_set(&websocket->err, ERR_IO, "lost %s: no data for %s", websocket_origin(websocket),
		text_of(&output_idle));
	finish_websocket(websocket);
}

static void check_answer_time(struct websocket *websocket, instant now)
{
	msec limit = websocket->request.http.timeout;
	instant due = instant_add(websocket->heard_at, limit);

	if (limit && instant_has_come(due, now))
		end_silent_websocket(websocket, limit);
	else if (limit)
		loop_timer_arm(websocket->timer, due);
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
		websocket_ask_for_life(websocket);
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

	if (websocket->state == WEBSOCKET_OPEN)
		check_silence(websocket, now);
	else
		check_answer_time(websocket, now);
}

static int read_head(struct websocket *websocket)
{
	int rc = websocket_read_head(websocket);

	if (rc == 0 && websocket->state == WEBSOCKET_OPEN) {
		websocket_open_framing(websocket);
		loop_timer_arm_after(websocket->timer, 0);
		websocket->request.on_open(websocket->answer.protocol, websocket->request.data);
	}
	return rc;
}

/* Returns true if it has ended. */
static bool advance_websocket(struct websocket *websocket)
{
	int rc = 0;

	if (websocket->state == WEBSOCKET_SENDING_HEAD)
		rc = websocket_send_head(websocket);
	if (!rc && websocket->state == WEBSOCKET_READING_HEAD)
		rc = read_head(websocket);
	if (rc < 0)
		return true;
	if (websocket->state == WEBSOCKET_READING_BODY)
		return websocket_read_body(websocket);
	return websocket->state == WEBSOCKET_OPEN && !websocket->is_cancelled &&
	       websocket_exchange(websocket);
}

static void set_wants(struct websocket *websocket)
{
	bool is_open = websocket->state == WEBSOCKET_OPEN;
	bool wants_read = !is_open || (!websocket->is_paused && !websocket_is_flooded(websocket));
	bool wants_write = websocket->out.len || (is_open && websocket_wants_write(websocket));

	http_connection_want(websocket->connection, wants_read, wants_write);
}

static void notify_websocket_room(struct websocket *websocket)
{
	if (!websocket->was_full || !websocket_has_room(websocket))
		return;
	websocket->was_full = false;
	if (websocket->request.on_room)
		websocket->request.on_room(websocket->request.data);
}

/* Does everything that is possible now. */
static void on_websocket_ready(void *data)
{
	struct websocket *websocket = data;

	if (websocket->state == WEBSOCKET_CONNECTING)
		return;
	websocket->is_in_turn = true;
	bool is_over = advance_websocket(websocket);

	if (!is_over && !websocket->is_cancelled)
		notify_websocket_room(websocket);
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
	websocket_begin_head(websocket);
	loop_timer_arm_after(websocket->timer, 0);
	websocket_ask_for_turn(websocket);
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
	websocket->soon = loop_new_timer(loop, on_websocket_ready, websocket);
	websocket->connection = http_connection_new(loop, &request->http, on_connected,
						    on_websocket_ready, websocket);
	return websocket;
}

void websocket_close(struct websocket *websocket)
{
	websocket->wants_close = true;
	websocket_ask_for_turn(websocket);
}

void websocket_pause(struct websocket *websocket)
{
	websocket->is_paused = true;
	websocket_ask_for_turn(websocket);
}

void websocket_resume(struct websocket *websocket)
{
	websocket->is_paused = false;
	websocket->heard_at = loop_monotonic_now();
	websocket_ask_for_turn(websocket);
}
