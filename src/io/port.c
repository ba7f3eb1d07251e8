/* Ports: the kernel's own range is avoided, and other ports are tested with bind. */
#include "io/port.h"

#include "base/mem.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LOWEST_PORT 10000 /* well known services live below */
#define HIGHEST_PORT 65535
#define EPHEMERAL_RANGE "/proc/sys/net/ipv4/ip_local_port_range"

/* The kernel's default (ip(7)), if /proc does not tell. */
static void read_ephemeral_range(int *ret_low, int *ret_high)
{
	char line[64] = "";
	int fd CLEANUP(file_close) = open(EPHEMERAL_RANGE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		file_read_at(fd, line, sizeof(line) - 1, 0);
	if (sscanf(line, "%d %d", ret_low, ret_high) != 2) {
		*ret_low = 32768;
		*ret_high = 60999;
	}
}

int port_range(int *ret_low, int *ret_high, struct err *err)
{
	int low, high;

	read_ephemeral_range(&low, &high);
	int n_below = low - LOWEST_PORT, n_above = HIGHEST_PORT - high;

	if (n_below <= 0 && n_above <= 0)
		return err_set(
			err, ERR_LIMIT,
			"net.ipv4.ip_local_port_range (%d to %d) leaves no ports for servers; "
			"change it: sysctl -w net.ipv4.ip_local_port_range='32768 60999'",
			low, high);
	*ret_low = n_below >= n_above ? LOWEST_PORT : high + 1;
	*ret_high = n_below >= n_above ? low - 1 : HIGHEST_PORT;
	return 0;
}

/* With SO_REUSEADDR, as servers do: old connections of an exited server are no obstacle. 0 or
 * errno. */
static int bind_as(int family, const struct sockaddr *address, socklen_t size, int *ret_fd)
{
	const int yes = 1, no = 0;
	int fd CLEANUP(file_close) = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return errno;
	/* Whatever net.ipv6.bindv6only says: IPv4 too. */
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, address, size) < 0)
		return errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int port_bind(int port, int *ret_fd)
{
	const struct sockaddr_in6 both = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((in_port_t) port),
		.sin6_addr = IN6ADDR_ANY_INIT,
	};
	const struct sockaddr_in old = {
		.sin_family = AF_INET,
		.sin_port = htons((in_port_t) port),
		.sin_addr = {htonl(INADDR_ANY)},
	};
	int failure = bind_as(AF_INET6, (const struct sockaddr *) &both, sizeof(both), ret_fd);

	/* A machine without IPv6 fails with one of several errors, but not with EADDRINUSE. */
	if (failure != 0 && failure != EADDRINUSE)
		failure = bind_as(AF_INET, (const struct sockaddr *) &old, sizeof(old), ret_fd);
	return failure;
}

bool port_is_free(int port)
{
	int fd CLEANUP(file_close) = -1;

	return port_bind(port, &fd) == 0;
}

void port_reservations_done(struct port_reservations *reservations)
{
	for (size_t i = 0; i < reservations->count; i++)
		file_close(&reservations->fds[i]);
	free(reservations->ports);
	free(reservations->fds);
	*reservations = (struct port_reservations){0};
}

static bool has_reserved(const struct port_reservations *reservations, int port)
{
	for (size_t i = 0; i < reservations->count; i++)
		if (reservations->ports[i] == port)
			return true;
	return false;
}

/* 0 or errno (EADDRINUSE). */
static int bind_name(int port, int *ret_fd)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "muster-port-%d", port);
	size_t size = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) len;

	if (fd < 0 || bind(fd, (const struct sockaddr *) &name, (socklen_t) size) < 0)
		return errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

bool port_reservations_take(struct port_reservations *reservations, int port)
{
	size_t count = reservations->count;
	int fd = -1;

	if (!port_is_free(port))
		return false;
	if (has_reserved(reservations, port))
		return true;
	if (bind_name(port, &fd) == EADDRINUSE)
		return false;
	reservations->ports = mem_resize(reservations->ports, count + 1, sizeof(int));
	reservations->fds = mem_resize(reservations->fds, count + 1, sizeof(int));
	reservations->ports[count] = port;
	reservations->fds[count] = fd;
	reservations->count++;
	return true;
}
