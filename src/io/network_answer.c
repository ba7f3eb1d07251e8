/* One small state for each connection: the frame that is coming in, or the bytes behind it. */
#include "io/network_answer.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/network_frame.h"
#include "io/port.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
#define MORE_CONNECTIONS 16 /* than two for each peer: strangers */
#define BYTES_LIMIT ((size_t) 32 * 1024 * 1024) /* of one connection; an asker sends 6 MiB */

struct connection {
	struct network_answerer *answerer;
	struct loop_watch *watch;
	int fd;
	uint64_t heard_at; /* its last word, counted in words of all */
	uint8_t bytes[NETWORK_FRAME_SIZE];
	size_t n_bytes; /* of the frame that is coming in */
	struct network_frame frame; /* the last one that came */
	size_t n_behind; /* bytes that are still to come behind it */
	size_t n_taken; /* bytes of all */
	int asker; /* whose name it gave; -1: nobody's */
};

struct network_answerer {
	struct loop *loop;
	struct loop_watch *watch;
	int fd;
	const struct network_peer *peers;
	size_t n_peers;
	size_t own;
	bool *was_asked; /* by each peer */
	struct connection **connections;
	size_t n_connections;
	size_t most_connections;
	uint64_t n_words;
	loop_fn on_change;
	void *data;
};

int network_listen(int port, int *ret_fd, struct err *err)
{
	int fd CLEANUP(file_close) = -1;
	int failure = port_bind(port, &fd);

	if (!failure && listen(fd, BACKLOG) < 0)
		failure = errno;
	if (failure == EADDRINUSE)
		return err_set(err, ERR_REFUSED, "port %d is taken by another program", port);
	if (failure)
		return err_set_errno(err, failure, "cannot listen on port %d", port);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static void connection_free(struct connection *connection)
{
	loop_watch_free(connection->watch);
	network_break(connection->fd);
	free(connection);
}

static void end_connection(struct connection *connection)
{
	struct network_answerer *answerer = connection->answerer;

	for (size_t i = 0; i < answerer->n_connections; i++) {
		if (answerer->connections[i] != connection)
			continue;
		answerer->connections[i] = answerer->connections[--answerer->n_connections];
		connection_free(connection);
		return;
	}
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
	struct network_frame frame = {
		.length = connection->frame.length,
		.received = connection->frame.received,
		.sent = network_wall_clock(),
	};
	uint8_t bytes[NETWORK_FRAME_SIZE];

	network_frame_set_name(&frame, answerer->peers[answerer->own].name);
	network_frame_write(&frame, bytes);
	connection->n_bytes = 0;
	/* Who asks one thing at a time leaves room for the answer. */
	return send(connection->fd, bytes, sizeof(bytes), MSG_NOSIGNAL) == sizeof(bytes);
}

/* A whole frame has come. */
static bool take_frame(struct connection *connection)
{
	if (!network_frame_read(connection->bytes, &connection->frame))
		return false;
	connection->frame.received = network_wall_clock();
	connection->asker = find_peer(connection->answerer, &connection->frame);
	connection->n_behind = connection->frame.length;
	return connection->n_behind > 0 || answer(connection);
}

static bool take_bytes(struct connection *connection, size_t n_read)
{
	connection->n_taken += n_read;
	if (connection->n_taken > BYTES_LIMIT)
		return false;
	if (connection->n_behind > 0) {
		connection->n_behind -= n_read;
		return connection->n_behind > 0 || answer(connection);
	}
	connection->n_bytes += n_read;
	return connection->n_bytes < NETWORK_FRAME_SIZE || take_frame(connection);
}

static ssize_t read_some(struct connection *connection)
{
	static uint8_t dropped[64 * 1024];

	if (connection->n_behind == 0)
		return recv(connection->fd, connection->bytes + connection->n_bytes,
			    NETWORK_FRAME_SIZE - connection->n_bytes, 0);
	return recv(connection->fd, dropped,
		    connection->n_behind < sizeof(dropped) ? connection->n_behind : sizeof(dropped),
		    0);
}

/* The asker closes when it knows all that it wanted. */
static void on_readable(void *data)
{
	struct connection *connection = data;
	struct network_answerer *answerer = connection->answerer;
	ssize_t n_read = read_some(connection);

	connection->heard_at = ++answerer->n_words;
	if (n_read < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n_read > 0 && take_bytes(connection, (size_t) n_read))
		return;
	if (n_read <= 0 && connection->asker >= 0)
		answerer->was_asked[connection->asker] = true;
	end_connection(connection);
	answerer->on_change(answerer->data);
}

static void make_room(struct network_answerer *answerer)
{
	struct connection *silent = answerer->connections[0];

	for (size_t i = 1; i < answerer->n_connections; i++)
		if (answerer->connections[i]->heard_at < silent->heard_at)
			silent = answerer->connections[i];
	end_connection(silent);
}

static void on_connection(void *data)
{
	struct network_answerer *answerer = data;
	const int yes = 1;
	int fd = accept4(answerer->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	bool is_full = fd < 0 ? errno == EMFILE || errno == ENFILE
			      : answerer->n_connections == answerer->most_connections;

	if (is_full && answerer->n_connections > 0)
		make_room(answerer);
	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	struct connection *connection = mem_new(sizeof(*connection));

	*connection = (struct connection){
		.answerer = answerer,
		.fd = fd,
		.heard_at = ++answerer->n_words,
		.asker = -1,
	};
	connection->watch = loop_watch_readable(answerer->loop, fd, on_readable, connection);
	answerer->connections[answerer->n_connections++] = connection;
}

struct network_answerer *network_answerer_new(struct loop *loop, int take_fd,
					      const struct network_peer *peers, size_t n_peers,
					      size_t own, loop_fn on_change, void *data)
{
	struct network_answerer *answerer = mem_new(sizeof(*answerer));
	size_t most = 2 * n_peers + MORE_CONNECTIONS;

	*answerer = (struct network_answerer){
		.loop = loop,
		.watch = loop_watch_readable(loop, take_fd, on_connection, answerer),
		.fd = take_fd,
		.peers = peers,
		.n_peers = n_peers,
		.own = own,
		.was_asked = mem_new_array(n_peers, sizeof(bool)),
		.connections = mem_new_array(most, sizeof(struct connection *)),
		.most_connections = most,
		.on_change = on_change,
		.data = data,
	};
	return answerer;
}

void network_answerer_free(struct network_answerer *answerer)
{
	if (!answerer)
		return;
	for (size_t i = 0; i < answerer->n_connections; i++)
		connection_free(answerer->connections[i]);
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
	return answerer->n_connections > 0;
}
