#include "unit.h"

#include "base/own.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/network_answer.h"
#include "io/network_frame.h"
#include "io/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const struct network_peer peers[] = {
	{.name = "worker-0", .host = "127.0.0.1"},
	{.name = "worker-1", .host = "127.0.0.1"},
};

struct scene {
	struct loop *loop;
	struct network_answerer *answerer; /* of worker-0 */
	int port;
	int n_changes;
};

static void on_change(void *data)
{
	((struct scene *) data)->n_changes++;
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	int fd = -1;

	assert_int_equal(loop_new(&scene->loop, NULL), 0);
	assert_int_equal(network_listen(0, &fd, NULL), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
	scene->port = ntohs(((struct sockaddr_in *) &address)->sin_port); /* as sin6_port lies */
	scene->answerer =
		network_answerer_new(scene->loop, fd, peers, ARRAY_LEN(peers), 0, on_change, scene);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	network_answerer_free(scene->answerer);
	loop_free(scene->loop);
	assert_true(port_is_free(scene->port));
	free(scene);
	return 0;
}

static int connect_to(const struct scene *scene)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons((in_port_t) scene->port),
					    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

static void send_frame(int fd, const char *name, uint32_t length)
{
	struct network_frame frame = {.length = length};
	uint8_t bytes[NETWORK_FRAME_SIZE];

	network_frame_set_name(&frame, name);
	network_frame_write(&frame, bytes);
	assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
}

/* Lets the answerer work until so many bytes have come, or it has closed (0). */
static size_t receive(struct scene *scene, int fd, void *bytes, size_t len)
{
	for (;;) {
		loop_run_ready(scene->loop);
		ssize_t n_read = recv(fd, bytes, len, MSG_DONTWAIT | MSG_PEEK);

		if (n_read == (ssize_t) len)
			return (size_t) recv(fd, bytes, len, 0);
		if (n_read == 0 || (n_read < 0 && errno != EAGAIN))
			return 0;
	}
}

static void receive_answer(struct scene *scene, int fd, struct network_frame *ret_answer)
{
	uint8_t bytes[NETWORK_FRAME_SIZE];

	assert_int_equal(receive(scene, fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_true(network_frame_read(bytes, ret_answer));
}

static void assert_is_closed(struct scene *scene, int fd)
{
	uint8_t bytes[NETWORK_FRAME_SIZE];

	assert_int_equal(receive(scene, fd, bytes, sizeof(bytes)), 0);
	file_close(&fd);
}

static void a_frame_is_answered_with_the_times_and_the_own_name(void **state)
{
	struct scene *scene = *state;
	struct network_frame answer;
	int64_t before = network_wall_clock();
	int fd = connect_to(scene);

	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	assert_string_equal(answer.name, "worker-0");
	assert_true(answer.received >= before && answer.sent >= answer.received);
	assert_true(network_wall_clock() >= answer.sent);
	file_close(&fd);
}

static void bytes_behind_a_frame_are_taken_before_the_answer(void **state)
{
	struct scene *scene = *state;
	struct network_frame answer;
	char bytes[1000] = {0};
	int fd = connect_to(scene);

	for (int i = 0; i < 3; i++) {
		send_frame(fd, "worker-1", sizeof(bytes));
		assert_int_equal(send(fd, bytes, sizeof(bytes) - 1, 0), sizeof(bytes) - 1);
		loop_run_ready(scene->loop);
		assert_int_equal(recv(fd, bytes, 1, MSG_DONTWAIT), -1);
		assert_int_equal(send(fd, bytes, 1, 0), 1);
		receive_answer(scene, fd, &answer);
		assert_int_equal(answer.length, sizeof(bytes));
	}
	file_close(&fd);
}

static void a_peer_has_asked_when_it_closes(void **state)
{
	struct scene *scene = *state;
	struct network_frame answer;
	int fd = connect_to(scene);

	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	assert_true(network_answerer_is_busy(scene->answerer));
	assert_false(network_answerer_was_asked_by_all(scene->answerer));
	file_close(&fd);
	while (scene->n_changes == 0)
		loop_run_ready(scene->loop);
	assert_true(network_answerer_was_asked_by_all(scene->answerer));
	assert_false(network_answerer_is_busy(scene->answerer));
}

static void strangers_and_the_own_name_do_not_count_as_peers(void **state)
{
	struct scene *scene = *state;
	const char *const names[] = {"worker-7", "worker-0", ""};
	struct network_frame answer;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		int fd = connect_to(scene), n_before = scene->n_changes;

		send_frame(fd, names[i], 0);
		receive_answer(scene, fd, &answer);
		file_close(&fd);
		while (scene->n_changes == n_before)
			loop_run_ready(scene->loop);
	}
	assert_false(network_answerer_was_asked_by_all(scene->answerer));
}

static void what_is_not_our_protocol_ends_the_connection(void **state)
{
	struct scene *scene = *state;
	char bytes[NETWORK_FRAME_SIZE + 100];
	int fd = connect_to(scene);

	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_is_closed(scene, fd);
	assert_false(network_answerer_is_busy(scene->answerer));
}

static void a_connection_that_sends_without_end_is_ended(void **state)
{
	struct scene *scene = *state;
	static char bytes[1024 * 1024];
	int fd = connect_to(scene);
	bool is_open = true;

	for (int i = 0; i < 100 && is_open; i++) {
		send_frame(fd, "worker-1", sizeof(bytes));
		for (size_t sent = 0; sent < sizeof(bytes) && is_open;) {
			ssize_t n_sent = send(fd, bytes + sent, sizeof(bytes) - sent,
					      MSG_DONTWAIT | MSG_NOSIGNAL);

			sent += n_sent > 0 ? (size_t) n_sent : 0;
			is_open = n_sent >= 0 || errno == EAGAIN;
			loop_run_ready(scene->loop);
		}
		is_open = is_open && receive(scene, fd, (uint8_t[NETWORK_FRAME_SIZE]){0},
					     NETWORK_FRAME_SIZE) > 0;
	}
	assert_false(is_open);
	file_close(&fd);
}

static void many_connections_push_out_the_silent_ones(void **state)
{
	struct scene *scene = *state;
	struct network_frame answer;
	int silent[100], fd;

	for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
		silent[i] = connect_to(scene);
		loop_run_ready(scene->loop);
	}
	fd = connect_to(scene);
	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	assert_is_closed(scene, silent[0]);
	for (size_t i = 1; i < ARRAY_LEN(silent); i++)
		file_close(&silent[i]);
	file_close(&fd);
}

static void a_port_that_is_taken_is_told(void **state)
{
	struct scene *scene = *state;
	struct err err = {0};
	int fd = -1;

	assert_int_equal(network_listen(scene->port, &fd, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "is taken by another program"));
	assert_int_equal(fd, -1);
}

int main(void)
{
#define WITH_ANSWERER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_ANSWERER(a_frame_is_answered_with_the_times_and_the_own_name),
		WITH_ANSWERER(bytes_behind_a_frame_are_taken_before_the_answer),
		WITH_ANSWERER(a_peer_has_asked_when_it_closes),
		WITH_ANSWERER(strangers_and_the_own_name_do_not_count_as_peers),
		WITH_ANSWERER(what_is_not_our_protocol_ends_the_connection),
		WITH_ANSWERER(a_connection_that_sends_without_end_is_ended),
		WITH_ANSWERER(many_connections_push_out_the_silent_ones),
		WITH_ANSWERER(a_port_that_is_taken_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
