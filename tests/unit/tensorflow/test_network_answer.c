#include "unit.h"

#include "io/file.h"
#include "io/loop.h"
#include "io/port.h"
#include "tensorflow/network_answer.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <sys/socket.h>

struct scene {
	struct loop *loop;
	struct network_peer peers[2];
	struct network_answerer *answerer; /* of worker-0 */
	int n_changes;
};

static void on_change(void *data)
{
	((struct scene *) data)->n_changes++;
}

/* One that was free a moment ago. */
static int free_port(void)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	int fd = -1;

	assert_int_equal(port_bind(0, &fd), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
	file_close(&fd);
	return ntohs(((struct sockaddr_in *) &address)->sin_port); /* as sin6_port lies */
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->peers[0].name = "worker-0";
	scene->peers[1].name = "worker-1";
	assert_int_equal(loop_new(&scene->loop, NULL), 0);
	scene->peers[0].port = free_port();
	assert_int_equal(network_answerer_new(scene->loop, scene->peers, 2, 0, on_change, scene,
					      &scene->answerer, NULL),
			 0);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	network_answerer_free(scene->answerer);
	loop_free(scene->loop);
	assert_true(port_is_free(scene->peers[0].port));
	free(scene);
	return 0;
}

/* From an address of this machine. */
static int connect_from(const struct scene *scene, in_addr_t own)
{
	const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(own)}};
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons((in_port_t) scene->peers[0].port),
					    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *) &from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

static int connect_to(const struct scene *scene)
{
	return connect_from(scene, INADDR_LOOPBACK);
}

/* As if the host of worker-1 resolved to that. */
static void know(struct scene *scene, const char *address)
{
	struct network_addresses addresses = {.count = 1};
	struct sockaddr_in one = {.sin_family = AF_INET};

	assert_int_equal(inet_pton(AF_INET, address, &one.sin_addr), 1);
	assert_true(network_address_read((const struct sockaddr *) &one, &addresses.list[0]));
	network_answerer_know(scene->answerer, 1, &addresses);
}

static void send_frame(int fd, const char *name, uint32_t length)
{
	struct network_frame frame;

	network_frame_init(&frame, name, length);
	assert_int_equal(send(fd, &frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
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
	assert_int_equal(receive(scene, fd, ret_answer, sizeof(*ret_answer)), sizeof(*ret_answer));
	assert_true(network_frame_is_ours(ret_answer));
}

static void assert_is_closed(struct scene *scene, int fd)
{
	struct network_frame answer;

	assert_int_equal(receive(scene, fd, &answer, sizeof(answer)), 0);
	file_close(&fd);
}

#define SCENE_TEST(name) TEST_IN(setup, teardown, struct scene *scene, name)

SCENE_TEST(a_frame_is_answered_with_the_times_and_the_own_name)
{
	struct network_frame answer;
	uint64_t before = network_wall_clock();
	int fd = connect_to(scene);

	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	assert_string_equal(answer.name, "worker-0");
	assert_true(be64toh(answer.received) >= before);
	assert_true(be64toh(answer.sent) >= be64toh(answer.received));
	assert_true(network_wall_clock() >= be64toh(answer.sent));
	file_close(&fd);
}

SCENE_TEST(bytes_behind_a_frame_are_taken_before_the_answer)
{
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
	}
	file_close(&fd);
}

/* All of it, from 127.0.0.2. */
static void ask_as_worker_1(struct scene *scene)
{
	struct network_frame answer;
	int fd = connect_from(scene, INADDR_LOOPBACK + 1), n_before = scene->n_changes;

	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	file_close(&fd);
	while (scene->n_changes == n_before)
		loop_run_ready(scene->loop);
}

/* 192.0.2.0/24 is for documentation: nobody has it (RFC 5737). */
SCENE_TEST(a_name_does_not_count_from_an_address_that_its_host_does_not_have)
{
	char address[INET6_ADDRSTRLEN];

	know(scene, "192.0.2.1");
	ask_as_worker_1(scene);
	assert_false(network_answerer_was_asked_by_all(scene->answerer));
	assert_non_null(network_answerer_other(scene->answerer, 1));
	network_address_write(network_answerer_other(scene->answerer, 1), address);
	assert_string_equal(address, "127.0.0.2");
}

/* Whichever comes first, the name of the host or the peer. */
SCENE_TEST(an_asker_counts_when_its_addresses_become_known)
{
	ask_as_worker_1(scene);
	assert_false(network_answerer_was_asked_by_all(scene->answerer));
	assert_null(network_answerer_other(scene->answerer, 1));
	know(scene, "127.0.0.2");
	assert_true(network_answerer_was_asked_by_all(scene->answerer));
	assert_null(network_answerer_other(scene->answerer, 1));
}

/* A host whose name stands for 127.0.1.1, as on Debian: calls come from another one. */
SCENE_TEST(all_addresses_of_this_machine_are_one_host)
{
	know(scene, "127.0.1.1");
	ask_as_worker_1(scene);
	assert_true(network_answerer_was_asked_by_all(scene->answerer));
}

SCENE_TEST(a_peer_has_asked_when_it_closes)
{
	struct network_frame answer;
	int fd = connect_to(scene);

	know(scene, "127.0.0.1");
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

SCENE_TEST(strangers_and_the_own_name_do_not_count_as_peers)
{
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

SCENE_TEST(what_is_not_our_protocol_ends_the_connection)
{
	char bytes[sizeof(struct network_frame) + 100];
	int fd = connect_to(scene);

	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_is_closed(scene, fd);
	assert_false(network_answerer_is_busy(scene->answerer));
}

SCENE_TEST(the_place_of_the_longest_silent_stranger_is_given_away)
{
	struct network_frame answer;
	int silent[100], fd;

	for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
		silent[i] = connect_to(scene);
		loop_run_ready(scene->loop);
	}
	assert_is_closed(scene, silent[0]);
	fd = connect_to(scene);
	send_frame(fd, "worker-1", 0);
	receive_answer(scene, fd, &answer);
	for (size_t i = 1; i < ARRAY_LEN(silent) - 1; i++)
		file_close(&silent[i]);
	file_close(&fd);
}

SCENE_TEST(a_port_that_is_taken_is_told)
{
	struct err err = {0};
	struct network_answerer *answerer = NULL;

	assert_int_equal(network_answerer_new(scene->loop, scene->peers, 2, 0, on_change, scene,
					      &answerer, &err),
			 ERR_REFUSED);
	assert_non_null(strstr(err.text, "is in use by another program"));
	assert_null(answerer);
}
