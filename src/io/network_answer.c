/* One small state for each connection: the frame that is coming in, or the bytes behind it. */
#include "io/network_answer.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/network_frame.h"
#include "io/port.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#define BACKLOG 1024
#define MORE_CONNECTIONS 16 /* than two for each peer: strangers */

struct connection {
	struct network_answerer *answerer;
	struct loop_watch *watch; /* NULL: this place is free */
	int fd;
	int asker; /* whose name it gave; -1: nobody's */
	struct network_frame frame; /* the last one, as far as it has come */
	size_t frame_len;
	uint64_t n_behind; /* bytes that are still to come behind it */
	uint64_t received; /* when it had come */
};

struct network_answerer {
	struct loop *loop;
	struct loop_watch *watch;
	int fd;
	const struct network_peer *peers;
	size_t n_peers;
	size_t own;
	bool *was_asked; /* by each peer */
	struct connection *connections;
	size_t n_places; /* for them */
	loop_fn on_change;
	void *data;
};

static void end_connection(struct connection *connection)
{
	loop_watch_free(TAKE(connection->watch));
	network_break(connection->fd);
}

static int find_peer(const struct network_answerer *answerer, const struct network_frame *frame)
{
	for (size_t i = 0; i < answerer->n_peers; i++)
		if (i != answerer->own && network_frame_has_name(frame, answerer->peers[i].name))
			return (int) i;
	return -1;
}

/* False when the connection is of no use any more. */
static bool answer(struct connection *connection)
{
	const struct network_answerer *answerer = connection->answerer;
	struct network_frame frame;

	network_frame_init(&frame, answerer->peers[answerer->own].name, 0);
	frame.received = htobe64(connection->received);
	frame.sent = htobe64(network_wall_clock());
	connection->frame_len = 0;
	/* A peer that asks one thing at a time leaves room for the answer. */
	return send(connection->fd, &frame, sizeof(frame), MSG_NOSIGNAL) == sizeof(frame);
}

/* A whole frame has come. */
static bool take_frame(struct connection *connection)
{
	if (!network_frame_is_ours(&connection->frame))
		return false;
	connection->received = network_wall_clock();
	connection->asker = find_peer(connection->answerer, &connection->frame);
	connection->n_behind = be64toh(connection->frame.length);
	return connection->n_behind > 0 || answer(connection);
}

static bool take_bytes(struct connection *connection, size_t n_read)
{
	if (connection->n_behind > 0) {
		connection->n_behind -= n_read;
		return connection->n_behind > 0 || answer(connection);
	}
	connection->frame_len += n_read;
	return connection->frame_len < sizeof(connection->frame) || take_frame(connection);
}

static ssize_t read_some(struct connection *connection)
{
	static uint8_t dropped[64 * 1024];
	size_t n_behind = connection->n_behind;

	if (n_behind == 0)
		return recv(connection->fd, (char *) &connection->frame + connection->frame_len,
			    sizeof(connection->frame) - connection->frame_len, 0);
	return recv(connection->fd, dropped,
		    n_behind < sizeof(dropped) ? n_behind : sizeof(dropped), 0);
}

/* The asker closes when it knows all that it wanted. */
static void on_readable(void *data)
{
	struct connection *connection = data;
	struct network_answerer *answerer = connection->answerer;
	ssize_t n_read = read_some(connection);

	if (n_read < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n_read > 0 && take_bytes(connection, (size_t) n_read))
		return;
	if (n_read <= 0 && connection->asker >= 0)
		answerer->was_asked[connection->asker] = true;
	end_connection(connection);
	answerer->on_change(answerer->data);
}

static struct connection *find_place(const struct network_answerer *answerer)
{
	for (size_t i = 0; i < answerer->n_places; i++)
		if (!answerer->connections[i].watch)
			return &answerer->connections[i];
	return NULL;
}

static void on_connection(void *data)
{
	struct network_answerer *answerer = data;
	const int yes = 1;
	int fd = accept4(answerer->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection = find_place(answerer);

	if (fd < 0)
		return;
	if (!connection) { /* a peer tries again */
		network_break(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	*connection = (struct connection){.answerer = answerer, .fd = fd, .asker = -1};
	connection->watch = loop_watch_readable(answerer->loop, fd, on_readable, connection);
}

static int listen_on(int port, int *ret_fd, struct err *err)
{
	int failure = port_bind(port, ret_fd);

	if (!failure && listen(*ret_fd, BACKLOG) < 0)
		failure = errno;
	if (failure == EADDRINUSE)
		return err_set(err, ERR_REFUSED, "port %d is taken by another program", port);
	if (failure)
		return err_set_errno(err, failure, "cannot listen on port %d", port);
	return 0;
}

int network_answerer_new(struct loop *loop, const struct network_peer *peers, size_t n_peers,
			 size_t own, loop_fn on_change, void *data,
			 struct network_answerer **ret_answerer, struct err *err)
{
	struct network_answerer *answerer;
	int fd CLEANUP(file_close) = -1;
	int failure = listen_on(peers[own].port, &fd, err);

	if (failure)
		return failure;
	answerer = mem_new(sizeof(*answerer));
	*answerer = (struct network_answerer){
		.loop = loop,
		.watch = loop_watch_readable(loop, fd, on_connection, answerer),
		.fd = fd,
		.peers = peers,
		.n_peers = n_peers,
		.own = own,
		.was_asked = mem_new_array(n_peers, sizeof(bool)),
		.n_places = 2 * n_peers + MORE_CONNECTIONS,
		.on_change = on_change,
		.data = data,
	};
	answerer->connections = mem_new_array(answerer->n_places, sizeof(struct connection));
	fd = -1;
	*ret_answerer = answerer;
	return 0;
}

void network_answerer_free(struct network_answerer *answerer)
{
	if (!answerer)
		return;
	for (size_t i = 0; i < answerer->n_places; i++)
		if (answerer->connections[i].watch)
			end_connection(&answerer->connections[i]);
	loop_watch_free(answerer->watch);
	file_close(&answerer->fd);
	free(answerer->connections);
	free(answerer->was_asked);
	free(answerer);
}

void network_answerer_expect_nothing(struct network_answerer *answerer, size_t peer)
{
	answerer->was_asked[peer] = true;
}

bool network_answerer_was_asked_by_all(const struct network_answerer *answerer)
{
	for (size_t i = 0; i < answerer->n_peers; i++)
		if (i != answerer->own && !answerer->was_asked[i])
			return false;
	return true;
}

bool network_answerer_is_busy(const struct network_answerer *answerer)
{
	for (size_t i = 0; i < answerer->n_places; i++)
		if (answerer->connections[i].watch)
			return true;
	return false;
}
