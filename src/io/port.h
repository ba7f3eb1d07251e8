/* TCP ports of this machine: which range may be assigned, whether a port is free now, and whose
 * program listens on it: on loopback each user may, and the first one has it. */
#pragma once

#include "base/err.h"

/* The wider range of ports that the kernel never assigns by itself: below or above
 * net.ipv4.ip_local_port_range, which outgoing connections use. ERR_LIMIT when that range leaves no
 * room. */
int port_range(int *ret_low, int *ret_high, struct err *err) MUST_USE;

/* A non-blocking socket that is bound to the port on every address of this machine; port 0: the
 * kernel chooses one. 0 or errno (EADDRINUSE). */
int port_bind(int port, int *ret_fd) MUST_USE;
int port_listen(int port, int backlog, int *ret_fd) MUST_USE; /* and listens */

/* True when a server could bind the port now, on every address of this machine. */
bool port_is_free(int port);

/* Ports that this process reserves for its job against all muster processes of the machine, also of
 * other users and state directories. Each is a socket with the abstract name "muster-port-N", which
 * the kernel closes with the process (unix(7)). Such names belong to a network namespace, as ports
 * do. The port itself stays unbound, for the program that will listen on it. */
struct port_reservations {
	int *ports;
	int *fds; /* -1: not reserved, for lack of descriptors */
	size_t count;
};
void port_reservations_done(struct port_reservations *reservations);
/* False if another process has reserved it, or a program is bound to it. */
bool port_reservations_take(struct port_reservations *reservations, int port);

/* Checks, before a secret is sent to a TCP port of a loopback address, that the program that
 * listens there is this user's or root's (sock_diag(7), else /proc/net/tcp). Returns
 * ERR_UNREACHABLE: none listens; ERR_REFUSED: another user's does, or the address is not of
 * loopback, so its programs cannot be seen; ERR_IO: /proc cannot be read. */
int port_owner_check(const char *ip, int port, struct err *err) MUST_USE;

/* Whose program listens on a port of any address, for a message: "process 1234 (python) of user
 * 'ann'", as far as /proc shows it to this user, else "another process". Caller frees. */
char *port_owner_name(int port) MUST_USE;
