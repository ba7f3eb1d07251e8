#include "io/listener.h"

#include "base/mem.h"
#include "io/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* What one who connects waits longer when descriptors are there again. */
#define DEFAULT_PAUSE MSEC_PER_SECOND

struct listener {
	struct listener_request request; /* the callbacks */
	int fd;
	int port;
	struct loop_watch *watch;
	struct loop_watch *pause; /* after which it is tried again to take somebody on */
	bool is_in_trouble;
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int read_address(const struct listener_request *request, union address *address,
			socklen_t *ret_size, struct err *err)
{
	in_port_t port = htons((in_port_t) request->port);

	*address = (union address){0};
	if (inet_pton(AF_INET, request->address, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = port;
		*ret_size = sizeof(address->v4);
	} else if (inet_pton(AF_INET6, request->address, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = port;
		*ret_size = sizeof(address->v6);
	} else {
		return err_set(err, ERR_INVALID, "'%s' is no IP address", request->address);
	}
	return 0;
}

static int set_failure(const struct listener_request *request, int failure, struct err *err)
{
	switch (failure) {
	case EADDRINUSE:
		return err_set(err, ERR_EXISTS, "port %d of %s is taken on this machine",
			       request->port, request->address);
	case EACCES:
		return err_set(err, ERR_REFUSED,
			       "port %d of %s is one that only root may listen on", request->port,
			       request->address);
	case EADDRNOTAVAIL: /* and what a machine without IPv6 says */
	case EAFNOSUPPORT:
		return err_set(err, ERR_NOT_FOUND, "%s is no address of this machine",
			       request->address);
	default:
		return err_set_errno(err, failure, "cannot listen on port %d of %s", request->port,
				     request->address);
	}
}

/* As servers do: connections of one that is gone are no obstacle. IPv6 alone, because IPv4 has a
 * listener of its own. 0 or errno. */
static int listen_on(const union address *address, socklen_t size, int *ret_fd)
{
	const int yes = 1;
	int fd CLEANUP(file_close) =
		socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return errno;
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(fd, &address->any, size) < 0 || listen(fd, SOMAXCONN) < 0)
		return errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int port_of(int fd)
{
	union address address = {0};
	socklen_t size = sizeof(address);

	getsockname(fd, &address.any, &size);
	return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

/* What accept(2) says of a connection that is gone already, or of its network, is that one's. */
static bool is_lasting(int failure)
{
	return failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM;
}

/* The connection is still there, so that the loop would ask without an end. */
static void rest(struct listener *listener, int failure)
{
	msec pause = listener->request.pause ? listener->request.pause : DEFAULT_PAUSE;
	bool was_in_trouble = listener->is_in_trouble;
	struct err err = {0};

	listener->is_in_trouble = true;
	loop_watch_enable(listener->watch, false);
	loop_timer_arm(listener->pause, loop_now() + pause);
	err_set_errno(&err, failure, "cannot take on a connection to port %d", listener->port);
	if (!was_in_trouble)
		listener->request.on_trouble(&err, listener->request.data);
}

static void go_on(void *data)
{
	const struct listener *listener = data;

	loop_watch_enable(listener->watch, true);
}

static void on_readable(void *data)
{
	struct listener *listener = data;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		listener->is_in_trouble = false;
		listener->request.on_connection(fd, listener->request.data);
	} else if (is_lasting(errno)) {
		rest(listener, errno);
	}
}

int listener_new(struct loop *loop, const struct listener_request *request,
		 struct listener **ret_listener, struct err *err)
{
	union address address;
	socklen_t size = 0;
	int fd = -1, rc = read_address(request, &address, &size, err);

	if (rc < 0)
		return rc;
	int failure = listen_on(&address, size, &fd);

	if (failure)
		return set_failure(request, failure, err);
	struct listener *listener = mem_new(sizeof(*listener));

	listener->request = *request;
	listener->fd = fd;
	listener->port = port_of(fd);
	listener->watch = loop_watch_readable(loop, fd, on_readable, listener);
	listener->pause = loop_new_timer(loop, go_on, listener);
	*ret_listener = listener;
	return 0;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	loop_watch_free(listener->watch);
	loop_watch_free(listener->pause);
	file_close(&listener->fd);
	free(listener);
}

int listener_port(const struct listener *listener)
{
	return listener->port;
}

void listener_enable(struct listener *listener, bool is_enabled)
{
	loop_timer_arm(listener->pause, MSEC_NEVER);
	loop_watch_enable(listener->watch, is_enabled);
}
