#include "http/asker.h"

#include "base/mem.h"
#include "http/listening.h"
#include "io/file.h"
#include "unit.h"

#include <sys/socket.h>

/* A server that sends a byte of its answer from time to time, without end, and what its client was
 * told. */
struct meeting {
	struct loop *loop;
	struct loop_watch *drip;
	int fd;
	int n_answers;
	char *said;
};

static void send_text(const struct meeting *meeting, const char *text)
{
	(void) !send(meeting->fd, text, strlen(text), MSG_NOSIGNAL);
}

static void on_drip(void *data)
{
	struct meeting *meeting = data;

	send_text(meeting, " ");
	loop_timer_arm_after(meeting->drip, 100);
}

static void on_connection(int take_fd, void *data)
{
	struct meeting *meeting = data;

	meeting->fd = take_fd;
	send_text(meeting, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
	on_drip(meeting);
}

static void on_trouble(const struct err *err, void *data)
{
	(void) err;
	(void) data;
	fail();
}

static void on_answer(int status, const void *bytes, size_t len, const struct err *err, void *data)
{
	struct meeting *meeting = data;

	(void) bytes;
	(void) len;
	assert_int_equal(status, 0);
	meeting->n_answers++;
	meeting->said = mem_copy_text(err->text);
	loop_stop(meeting->loop);
}

TEST(an_answer_that_never_ends_is_given_up)
{
	struct meeting meeting = {.fd = -1};
	struct listener *listener;
	struct http_asker *asker;

	assert_int_equal(loop_new(&meeting.loop, NULL), 0);
	meeting.drip = loop_new_timer(meeting.loop, on_drip, &meeting);
	const struct listener_request request = {.address = "127.0.0.1",
						 .on_connection = on_connection,
						 .on_trouble = on_trouble,
						 .data = &meeting};

	assert_int_equal(listener_new(meeting.loop, &request, &listener, NULL), 0);
	const struct http_asker_settings settings = {
		.host = "127.0.0.1",
		.address = "127.0.0.1",
		.port = listener_port(listener),
		.answer_limit = 1000000,
		.patience = MSEC_PER_SECOND,
		.on_answer = on_answer,
		.data = &meeting,
	};

	assert_int_equal(http_asker_new(meeting.loop, &settings, &asker, NULL), 0);
	asker->functions->ask(asker, "/", NULL, 0);
	loop_run(meeting.loop);
	assert_int_equal(meeting.n_answers, 1);
	assert_non_null(strstr(meeting.said, ": it does not respond"));
	asker->functions->free(asker);
	listener_free(listener);
	loop_watch_free(meeting.drip);
	file_close(&meeting.fd);
	loop_free(meeting.loop);
	free(meeting.said);
}
