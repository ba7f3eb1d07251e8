/* Ports: the kernel's own range is avoided, and other ports are tested with bind. */
#include "io/port.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/network_address.h"
#include "io/process.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

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

int port_listen(int port, int backlog, int *ret_fd)
{
	int fd CLEANUP(file_close) = -1;
	int failure = port_bind(port, &fd);

	if (failure)
		return failure;
	if (listen(fd, backlog) < 0)
		return errno;
	*ret_fd = fd;
	fd = -1;
	return 0;
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
	for (size_t i = 0; i < count; i++)
		if (reservations->ports[i] == port)
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

#define ADDRESS_DIGITS 32 /* of an IPv6 address */
#define ANY_OTHER_USER 65534 /* in a user namespace, all users without a number there */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* sock_diag: microseconds. /proc/net/tcp takes milliseconds, because the kernel walks its table of
 * all connections to fill a page. */

/* For the socket that the kernel itself would give a connection to (sock_diag(7)): a connection
 * from port 0 of no address is none that exists. */
static struct question question_of(const struct in6_addr *ip, int port)
{
	struct question question = {
		.head = {.nlmsg_len = sizeof(question),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_INET6,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_states = 1 << TCP_LISTEN,
			 .id = {.idiag_sport = htons((in_port_t) port),
				.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
	};

	if (IN6_IS_ADDR_V4MAPPED(ip)) {
		question.body.sdiag_family = AF_INET;
		memcpy(question.body.id.idiag_src, &ip->s6_addr[12], sizeof(struct in_addr));
	} else {
		memcpy(question.body.id.idiag_src, ip, sizeof(*ip));
	}
	return question;
}

/* Returns 0 or errno. ENOENT: none listens, or the kernel has no tcp_diag. */
static int ask_kernel(const struct question *question, uid_t *ret_owner)
{
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} answer;
	int fd CLEANUP(file_close) =
		socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0 || send(fd, question, sizeof(*question), 0) < 0)
		return errno;
	ssize_t len = recv(fd, &answer, sizeof(answer), 0);

	if (len < 0)
		return errno;
	if (!NLMSG_OK(&answer.head, (size_t) len))
		return EPROTO;
	if (answer.head.nlmsg_type == NLMSG_ERROR)
		return -((const struct nlmsgerr *) NLMSG_DATA(&answer.head))->error;
	const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);

	*ret_owner = found->idiag_uid;
	return found->idiag_state == TCP_LISTEN ? 0 : ENOENT;
}

/* Without sock_diag: /proc. */

/* Of all that listen on a port, the kernel prefers the one with the exact address. */
enum fit { FIT_NONE, FIT_ALL_ADDRESSES, FIT_EXACT };

struct listener {
	struct in6_addr address;
	unsigned port;
	uid_t owner;
	uint64_t inode; /* of its socket */
	enum fit fit;
};

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* The kernel prints each 32 bits of an address as a number of this machine. */
static bool read_address(const char *digits, struct in6_addr *ret_address)
{
	unsigned words[4] = {0, 0, htonl(0xffff), 0};

	for (size_t i = strlen(digits) == ADDRESS_DIGITS ? 0 : 3; i < ARRAY_LEN(words); i++) {
		if (sscanf(digits, "%8x", &words[i]) != 1)
			return false;
		digits += 8;
	}
	memcpy(ret_address, words, sizeof(words));
	return true;
}

/* "sl local_address rem_address st tx_queue:rx_queue tr:when retrnsmt uid timeout inode …"; false
 * also for a socket that does not listen. */
static bool read_listener(const char *line, struct listener *ret_listener)
{
	char digits[ADDRESS_DIGITS + 1];
	unsigned state, owner;

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*s %x %*s %*s %*s %u %*s %" SCNu64, digits,
		   &ret_listener->port, &state, &owner, &ret_listener->inode) != 5)
		return false;
	ret_listener->owner = owner;
	return state == TCP_LISTEN && read_address(digits, &ret_listener->address);
}

static enum fit fit_of(const struct listener *listener, const struct listener *wanted)
{
	struct in6_addr all;

	if (listener->port != wanted->port)
		return FIT_NONE;
	if (IN6_IS_ADDR_UNSPECIFIED(&wanted->address)) /* on any address */
		return FIT_ALL_ADDRESSES;
	if (IN6_ARE_ADDR_EQUAL(&listener->address, &wanted->address))
		return FIT_EXACT;
	(void) network_address_parse("0.0.0.0", &all);
	bool is_all = IN6_IS_ADDR_UNSPECIFIED(&listener->address) ||
		      (IN6_IS_ADDR_V4MAPPED(&wanted->address) &&
		       IN6_ARE_ADDR_EQUAL(&listener->address, &all));

	return is_all ? FIT_ALL_ADDRESSES : FIT_NONE;
}

/* The kernel lists the sockets that listen first (Documentation/networking/proc_net_tcp.rst). */
static int find_in(const char *path, struct listener *best, struct err *err)
{
	FILE *file CLEANUP(close_file) = fopen(path, "re");
	char *line CLEANUP(mem_free_text) = NULL;
	struct listener listener;
	size_t size = 0;

	if (!file)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	ssize_t len = getline(&line, &size, file); /* the titles */

	while (len > 0 && getline(&line, &size, file) > 0 && read_listener(line, &listener)) {
		enum fit fit = fit_of(&listener, best);

		if (fit > best->fit) {
			best->fit = fit;
			best->owner = listener.owner;
			best->inode = listener.inode;
		}
	}
	return 0;
}

static int find_in_proc(const struct in6_addr *address, int port, struct listener *ret_listener,
			struct err *err)
{
	*ret_listener = (struct listener){.address = *address, .port = (unsigned) port};
	int rc = find_in("/proc/net/tcp", ret_listener, err);

	if (rc == 0 && access("/proc/net/tcp6", F_OK) == 0) /* absent: no IPv6 */
		rc = find_in("/proc/net/tcp6", ret_listener, err);
	return rc == 0 && ret_listener->fit == FIT_NONE ? ERR_NOT_FOUND : rc;
}

/* Outside of user namespaces, or in one with all users. */
static bool has_all_users(void)
{
	char *map CLEANUP(mem_free_text) = file_read_text("/proc/self/uid_map");
	unsigned count = 0;

	return map && sscanf(map, "%*u %*u %u", &count) == 1 && count == UINT32_MAX;
}

int port_owner_check(const char *ip, int port, struct err *err)
{
	struct in6_addr address;
	uid_t owner = 0;

	if (!network_address_parse(ip, &address) || !network_address_is_loopback(&address))
		return err_set(err, ERR_REFUSED,
			       "%s is an address of another machine, which needs TLS", ip);
	const struct question question = question_of(&address, port);
	struct listener listener;
	int rc = 0;

	if (ask_kernel(&question, &owner)) {
		rc = find_in_proc(&address, port, &listener, err);
		owner = listener.owner;
	}
	if (rc == ERR_NOT_FOUND)
		return err_set(err, ERR_UNREACHABLE,
			       "cannot reach %s port %d: no server responds at this address", ip,
			       port);
	if (rc == 0 && owner != 0 &&
	    (owner != geteuid() || (owner == ANY_OTHER_USER && !has_all_users())))
		return err_set(err, ERR_REFUSED, "the program on port %d of %s belongs to user %u",
			       port, ip, owner);
	return rc;
}

char *port_owner_name(int port)
{
	const struct in6_addr any = IN6ADDR_ANY_INIT;
	char program[PROCESS_NAME_SIZE];
	struct listener listener;

	if (find_in_proc(&any, port, &listener, NULL) < 0)
		return mem_copy_text("another process");
	const struct passwd *entry = getpwuid(listener.owner);
	char *user CLEANUP(mem_free_text) = entry ? mem_format("user '%s'", entry->pw_name)
						  : mem_format("user %u", listener.owner);
	pid_t pid = process_of_socket(listener.inode, program);

	return pid ? mem_format("process %d (%s) of %s", (int) pid, program, user)
		   : mem_format("a process of %s", user);
}
