#include "unit.h"

#include "http/listening.h"
#include "io/file.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* What a listener told. */
struct seen {
	struct loop *loop;
	int n_connections;
	int n_troubles;
	msec pause; /* the listener's */
};

static void on_connection(int take_fd, void *data)
{
	struct seen *seen = data;

	assert_true(take_fd >= 0);
	file_close(&take_fd);
	seen->n_connections++;
	loop_stop(seen->loop);
}

static void on_trouble(const struct err *err, void *data)
{
	struct seen *seen = data;

	assert_int_equal(err->code, ERR_IO);
	seen->n_troubles++;
	loop_stop(seen->loop);
}

static int listen_at(struct seen *seen, const char *address, int port,
		     struct listener **ret_listener, struct err *err)
{
	const struct listener_request request = {
		.pause = seen->pause,
		.address = address,
		.port = port,
		.on_connection = on_connection,
		.on_trouble = on_trouble,
		.data = seen,
	};

	return listener_new(seen->loop, &request, ret_listener, err);
}

static int connect_to(int port)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons((in_port_t) port),
					    .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
	return fd;
}

TEST(who_connects_is_handed_over_and_waits_while_it_is_not_enabled)
{
	struct seen seen = {0};
	struct listener *listener = NULL;

	assert_int_equal(loop_new(&seen.loop, NULL), 0);
	assert_int_equal(listen_at(&seen, "127.0.0.1", 0, &listener, NULL), 0);
	listener_enable(listener, false);
	int client = connect_to(listener_port(listener));

	loop_run_ready(seen.loop);
	assert_int_equal(seen.n_connections, 0);
	listener_enable(listener, true);
	loop_run(seen.loop);
	assert_int_equal(seen.n_connections, 1);
	close(client);
	listener_free(listener);
	loop_free(seen.loop);
}

TEST(what_stands_in_the_way_is_told_apart)
{
	struct seen seen = {0};
	struct listener *listener = NULL, *none = NULL;
	struct err err = {0};

	assert_int_equal(loop_new(&seen.loop, NULL), 0);
	assert_int_equal(listen_at(&seen, "127.0.0.1", 0, &listener, NULL), 0);
	assert_int_equal(listen_at(&seen, "127.0.0.1", listener_port(listener), &none, &err),
			 ERR_EXISTS);
	assert_non_null(strstr(err.text, "of 127.0.0.1 is already in use"));
	assert_int_equal(listen_at(&seen, "localhost", 0, &none, &err), ERR_INVALID);
	assert_int_equal(listen_at(&seen, "192.0.2.1", 0, &none, &err), ERR_NOT_FOUND);
	assert_null(none);
	listener_free(listener);
	loop_free(seen.loop);
}

/* A listener that could take nobody on, and may again. */
static struct listener *listener_in_trouble(struct seen *seen, int *ret_client)
{
	struct listener *listener = NULL;
	struct rlimit before, none;

	assert_int_equal(loop_new(&seen->loop, NULL), 0);
	assert_int_equal(listen_at(seen, "127.0.0.1", 0, &listener, NULL), 0);
	*ret_client = connect_to(listener_port(listener));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t) *ret_client; /* the highest so far: not one more */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	loop_run(seen->loop);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(seen->n_troubles, 1);
	assert_int_equal(seen->n_connections, 0);
	return listener;
}

static void take_on_the_next(struct seen *seen, int client, struct listener *listener)
{
	loop_run(seen->loop);
	assert_int_equal(seen->n_connections, 1);
	close(client);
	listener_free(listener);
	loop_free(seen->loop);
}

/* The watch is level-triggered: a connection that cannot be taken on would keep the loop busy. */
TEST(without_a_descriptor_it_rests_until_it_is_enabled)
{
	struct seen seen = {.pause = 24 * 3600 * MSEC_PER_SECOND};
	int client = -1;
	struct listener *listener = listener_in_trouble(&seen, &client);

	loop_run_ready(seen.loop);
	assert_int_equal(seen.n_connections, 0);
	listener_enable(listener, true);
	take_on_the_next(&seen, client, listener);
}

TEST(without_a_descriptor_it_is_tried_again_after_a_while)
{
	struct seen seen = {.pause = 1};
	int client = -1;
	struct listener *listener = listener_in_trouble(&seen, &client);

	take_on_the_next(&seen, client, listener);
}
