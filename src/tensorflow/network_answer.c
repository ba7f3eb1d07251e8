/* A small state for each connection: the incoming frame, or the bytes after it.
 *
 * A frame claims a name without proof: tasks share no secret. So a name counts only from an address
 * of the peer's host, whichever of the two is known first. */
#include "tensorflow/network_answer.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/port.h"

#include <endian.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define BACKLOG 1024
#define MORE_CONNECTIONS 16 /* than two for each peer: other clients */

/* State of a peer. */
struct asker {
	bool has_asked;
	struct network_addresses seen; /* addresses of clients that used its name */
	struct network_addresses own; /* addresses of its host; none: not known yet */
};

struct connection {
	struct network_answerer *answerer;
	struct loop_watch *watch; /* NULL: unused */
	int fd;
	struct in6_addr from;
	int asker; /* index of the name it gave; -1: none */
	struct network_frame frame; /* the last one, or its beginning */
	size_t frame_len;
	uint64_t n_behind; /* bytes still to come after it */
	uint64_t received; /* when it was complete */
	uint64_t heard_as; /* number of its last bytes, or of its beginning, among those of all */
};

struct network_answerer {
	struct loop *loop;
	struct loop_watch *watch;
	int fd;
	const struct network_peer *peers;
	size_t n_peers;
	size_t own;
	struct asker *askers; /* one for each peer */
	struct connection *connections;
	size_t n_places; /* for connections */
	uint64_t n_heard;
	loop_fn on_change;
	void *data;
};

static void end_connection(struct connection *connection)
{
	loop_watch_free(TAKE(connection->watch));
	network_break(connection->fd);
}

/* Returns false if the connection is no longer useful. */
static bool send_network_answer(struct connection *connection)
{
	const struct network_answerer *answerer = connection->answerer;
	struct network_frame frame;

	network_frame_init(&frame, answerer->peers[answerer->own].name, 0);
	frame.received = htobe64(connection->received);
	frame.sent = htobe64(network_wall_clock());
	connection->frame_len = 0;
	/* A peer asks one question at a time, so there is room for the answer. */
	return send(connection->fd, &frame, sizeof(frame), MSG_NOSIGNAL) == sizeof(frame);
}

static bool accept_frame_bytes(struct connection *connection, size_t n_read)
{
	const struct network_answerer *answerer = connection->answerer;

	if (connection->n_behind > 0) {
		connection->n_behind -= n_read;
	} else {
		connection->frame_len += n_read;
		if (connection->frame_len < sizeof(connection->frame))
			return true;
		if (!network_frame_is_ours(&connection->frame))
			return false;
		connection->received = network_wall_clock();
		connection->asker = -1;
		for (size_t i = 0; i < answerer->n_peers; i++)
			if (i != answerer->own &&
			    network_frame_has_name(&connection->frame, answerer->peers[i].name))
				connection->asker = (int) i;
		connection->n_behind = be64toh(connection->frame.length);
	}
	return connection->n_behind > 0 || send_network_answer(connection);
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

/* A process may use any address of its machine: one named 127.0.1.1 connects from 127.0.0.1. */
static bool is_own_address(const struct asker *asker, const struct in6_addr *from)
{
	if (network_addresses_have(&asker->own, from))
		return true;
	if (!network_address_is_here(from))
		return false;
	for (size_t i = 0; i < asker->own.count; i++)
		if (network_address_is_here(&asker->own.list[i]))
			return true;
	return false;
}

static void record_asker_address(struct asker *asker, const struct in6_addr *from)
{
	network_addresses_add(&asker->seen, from);
	if (is_own_address(asker, from))
		asker->has_asked = true;
}

/* The asker closes when it has all answers. */
static void on_asker_readable(void *data)
{
	struct connection *connection = data;
	struct network_answerer *answerer = connection->answerer;
	ssize_t n_read = read_some(connection);

	connection->heard_as = ++answerer->n_heard;
	if (n_read < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n_read > 0 && accept_frame_bytes(connection, (size_t) n_read))
		return;
	if (n_read <= 0 && connection->asker >= 0)
		record_asker_address(&answerer->askers[connection->asker], &connection->from);
	end_connection(connection);
	answerer->on_change(answerer->data);
}

/* If none is free, it is that of the connection that has been silent longest: there are places for
 * all peers, so other clients hold them. A peer whose connection ends tries again. */
static struct connection *find_place(const struct network_answerer *answerer)
{
	struct connection *found = &answerer->connections[0];

	for (size_t i = 0; i < answerer->n_places; i++) {
		struct connection *connection = &answerer->connections[i];

		if (!connection->watch)
			return connection;
		if (connection->heard_as < found->heard_as)
			found = connection;
	}
	end_connection(found);
	return found;
}

static void on_asker_connection(void *data)
{
	struct network_answerer *answerer = data;
	const int yes = 1;
	struct sockaddr_storage from = {0};
	struct in6_addr address;
	int fd = accept4(answerer->fd, (struct sockaddr *) &from, &(socklen_t){sizeof(from)},
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (!network_address_read((const struct sockaddr *) &from, &address)) {
		network_break(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	struct connection *connection = find_place(answerer);

	*connection = (struct connection){.answerer = answerer,
					  .fd = fd,
					  .from = address,
					  .asker = -1,
					  .heard_as = ++answerer->n_heard};
	connection->watch = loop_watch_readable(answerer->loop, fd, on_asker_readable, connection);
}

int network_answerer_new(struct loop *loop, const struct network_peer *peers, size_t n_peers,
			 size_t own, loop_fn on_change, void *data,
			 struct network_answerer **ret_answerer, struct err *err)
{
	struct network_answerer *answerer;
	int fd = -1, port = peers[own].port;
	int failure = port_listen(port, BACKLOG, &fd);

	if (failure == EADDRINUSE)
		return err_set(err, ERR_REFUSED, "port %d is in use by another program", port);
	if (failure)
		return err_set_errno(err, failure, "cannot listen on port %d", port);
	answerer = mem_new(sizeof(*answerer));
	*answerer = (struct network_answerer){
		.loop = loop,
		.watch = loop_watch_readable(loop, fd, on_asker_connection, answerer),
		.fd = fd,
		.peers = peers,
		.n_peers = n_peers,
		.own = own,
		.askers = mem_new_array(n_peers, sizeof(struct asker)),
		.n_places = 2 * n_peers + MORE_CONNECTIONS,
		.on_change = on_change,
		.data = data,
	};
	answerer->connections = mem_new_array(answerer->n_places, sizeof(struct connection));
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
	free(answerer->askers);
	free(answerer);
}

void network_answerer_expect_nothing(struct network_answerer *answerer, size_t peer)
{
	answerer->askers[peer].has_asked = true;
}

void network_answerer_know(struct network_answerer *answerer, size_t peer,
			   const struct network_addresses *addresses)
{
	struct asker *asker = &answerer->askers[peer];

	asker->own = *addresses;
	for (size_t i = 0; i < asker->seen.count; i++)
		record_asker_address(asker, &asker->seen.list[i]);
}

const struct in6_addr *network_answerer_other(const struct network_answerer *answerer, size_t peer)
{
	const struct asker *asker = &answerer->askers[peer];

	if (asker->has_asked || asker->own.count == 0 || asker->seen.count == 0)
		return NULL;
	return &asker->seen.list[0];
}

bool network_answerer_was_asked_by_all(const struct network_answerer *answerer)
{
	for (size_t i = 0; i < answerer->n_peers; i++)
		if (i != answerer->own && !answerer->askers[i].has_asked)
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
