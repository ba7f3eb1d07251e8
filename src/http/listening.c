#include "http/listening.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/network_address.h"
#include "io/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#define UNIX_PREFIX "unix:"
#define PORT_MAX 65535

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

/* TCP. */

static int read_ip(const char *ip, int port, union address *address, socklen_t *ret_size,
		   struct err *err)
{
	*address = (union address){0};
	if (inet_pton(AF_INET, ip, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = htons((in_port_t) port);
		*ret_size = sizeof(address->v4);
	} else if (inet_pton(AF_INET6, ip, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons((in_port_t) port);
		*ret_size = sizeof(address->v6);
	} else {
		return err_set(err, ERR_INVALID, "'%s' is not an IP address", ip);
	}
	return 0;
}

static int set_listening_error(const char *ip, int port, int failure, struct err *err)
{
	switch (failure) {
	case EADDRINUSE:
		return err_set(err, ERR_EXISTS, "port %d of %s is already in use on this machine",
			       port, ip);
	case EACCES:
		return err_set(err, ERR_REFUSED, "port %d of %s: only root may listen on it", port,
			       ip);
	case EADDRNOTAVAIL: /* also returned by a machine without IPv6 */
	case EAFNOSUPPORT:
		return err_set(err, ERR_NOT_FOUND, "%s is not an address of this machine", ip);
	default:
		return err_set_errno(err, failure, "cannot listen on port %d of %s", port, ip);
	}
}

/* As usual for servers: old connections are no obstacle. IPv6 only, because IPv4 has its own
 * listener. Returns 0 or errno. */
static int listen_on(const union address *address, socklen_t size, int *ret_fd)
{
	const int yes = 1;
	int fd CLEANUP(file_close) =
		socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return errno;
	if (address->any.sa_family == AF_UNIX)
		fchmod(fd, S_IRUSR | S_IWUSR); /* bind creates the path with these permissions */
	else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return errno;
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	if (bind(fd, &address->any, size) < 0 || listen(fd, SOMAXCONN) < 0)
		return errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int listening_open_port(const char *ip, int port, int *ret_fd, struct err *err)
{
	bool is_anywhere = text_equals(ip, LISTENING_ANYWHERE);
	union address address;
	socklen_t size = 0;
	int rc = is_anywhere ? 0 : read_ip(ip, port, &address, &size, err);

	if (rc < 0)
		return rc;
	int failure = is_anywhere ? port_listen(port, SOMAXCONN, ret_fd)
				  : listen_on(&address, size, ret_fd);

	return failure ? set_listening_error(ip, port, failure, err) : 0;
}

static union address address_of(int fd)
{
	union address address = {0};
	socklen_t size = sizeof(address);

	getsockname(fd, &address.any, &size);
	return address;
}

int listening_port(int fd)
{
	const union address address = address_of(fd);

	return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

bool listening_is_loopback(int fd)
{
	const union address address = address_of(fd);
	struct in6_addr found;

	return network_address_read(&address.any, &found) && network_address_is_loopback(&found);
}

/* Paths. */

/* Its process was killed and left the path. */
static bool is_left_behind(const union address *address)
{
	struct stat status;
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && lstat(address->path.sun_path, &status) == 0 && S_ISSOCK(status.st_mode) &&
	       connect(fd, &address->any, sizeof(address->path)) < 0 && errno == ECONNREFUSED;
}

static int open_path(const char *path, struct listening *listening, struct err *err)
{
	union address address = {.path.sun_family = AF_UNIX};

	if (!*path || strlen(path) >= sizeof(address.path.sun_path))
		return err_set(err, ERR_INVALID,
			       "'" UNIX_PREFIX "%s': the path of a socket must have 1 to %zu bytes",
			       path, sizeof(address.path.sun_path) - 1);
	memcpy(address.path.sun_path, path, strlen(path));
	int failure = listen_on(&address, sizeof(address.path), &listening->fd);

	if (failure == EADDRINUSE && is_left_behind(&address) && unlink(path) == 0)
		failure = listen_on(&address, sizeof(address.path), &listening->fd);
	if (failure == EADDRINUSE)
		return err_set(err, ERR_EXISTS, "'%s' already exists", path);
	if (failure)
		return err_set_errno(err, failure, "cannot listen at '%s'", path);
	/* The process that removes it may have another working directory by then. */
	listening->path = realpath(path, NULL);
	listening->address = mem_format(UNIX_PREFIX "%s", listening->path ? listening->path : path);
	return 0;
}

/* Addresses. */

/* The IP address of a host as written; other texts are rejected later. */
static const char *ip_of(char *host)
{
	size_t len = strlen(host);

	if (len == 0 || text_equals_ignoring_case(host, "localhost"))
		return "127.0.0.1";
	if (host[0] != '[' || host[len - 1] != ']')
		return host;
	host[len - 1] = '\0';
	return host + 1;
}

int listening_open(const char *address, struct listening *ret_listening, struct err *err)
{
	struct listening listening = {.fd = -1};
	char *host CLEANUP(mem_free_text) = mem_copy_text(address);
	char *colon = strrchr(host, ':');
	int64_t port;
	int rc;

	if (text_starts_with(address, UNIX_PREFIX)) {
		rc = open_path(address + strlen(UNIX_PREFIX), &listening, err);
	} else if (!colon || text_read_int(colon + 1, 0, PORT_MAX, &port, NULL) < 0) {
		return err_set(err, ERR_INVALID,
			       "'%s' is not an address (expected HOST:PORT, :PORT or " UNIX_PREFIX
			       "PATH)",
			       address);
	} else {
		*colon = '\0';
		const char *ip = ip_of(host);

		if (ip == host && strchr(host, ':'))
			return err_set(err, ERR_INVALID,
				       "'%s': write an IPv6 address as [ADDRESS]:PORT", address);
		rc = listening_open_port(ip, (int) port, &listening.fd, err);
		if (rc == 0)
			listening.address = mem_format(strchr(ip, ':') ? "[%s]:%d" : "%s:%d", ip,
						       listening_port(listening.fd));
	}
	if (rc == 0)
		*ret_listening = listening;
	return rc;
}

void listening_remove(const struct listening *listening)
{
	if (listening->path)
		unlink(listening->path);
}

void listening_done(struct listening *listening)
{
	file_close(&listening->fd);
	free(listening->path);
	free(listening->address);
	*listening = (struct listening){.fd = -1};
}

/* Longest extra delay of a client after descriptors are free again. */
#define DEFAULT_PAUSE MSEC_PER_SECOND

struct listener {
	struct listener_request request; /* the callbacks */
	int fd;
	int port;
	struct loop_watch *watch;
	struct loop_watch *pause; /* until the next try to accept */
	bool is_in_trouble;
};

/* Stops listening for a while: the connection is still pending, so the loop would spin. */
static void rest(struct listener *listener, int failure)
{
	msec pause = listener->request.pause ? listener->request.pause : DEFAULT_PAUSE;
	bool was_in_trouble = listener->is_in_trouble;
	struct err err = {0};

	listener->is_in_trouble = true;
	loop_watch_enable(listener->watch, false);
	loop_timer_arm_after(listener->pause, pause);
	err_set_errno(&err, failure, "cannot accept a connection to port %d", listener->port);
	if (!was_in_trouble)
		listener->request.on_trouble(&err, listener->request.data);
}

static void on_listener_pause_end(void *data)
{
	const struct listener *listener = data;

	loop_watch_enable(listener->watch, true);
}

static void on_listener_readable(void *data)
{
	struct listener *listener = data;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		listener->is_in_trouble = false;
		listener->request.on_connection(fd, listener->request.data);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		/* Failures that are about one closed connection or its network do not last. */
		rest(listener, errno);
	}
}

int listener_new(struct loop *loop, const struct listener_request *request,
		 struct listener **ret_listener, struct err *err)
{
	int fd = -1, rc = listening_open_port(request->address, request->port, &fd, err);

	if (rc < 0)
		return rc;
	struct listener *listener = mem_new(sizeof(*listener));

	listener->request = *request;
	listener->fd = fd;
	listener->port = listening_port(fd);
	listener->watch = loop_watch_readable(loop, fd, on_listener_readable, listener);
	listener->pause = loop_new_timer(loop, on_listener_pause_end, listener);
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
	loop_timer_arm(listener->pause, INSTANT_NEVER);
	loop_watch_enable(listener->watch, is_enabled);
}
