/* TCP ports of this machine: which may be given away for good, and whether one is free now. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* The wider range of ports that the kernel hands to nobody by itself: below or above
 * net.ipv4.ip_local_port_range, from which outgoing connections take theirs. ERR_LIMIT when that
 * range leaves no room. */
int port_range(int *ret_low, int *ret_high, struct err *err) MUST_USE;

/* A non-blocking socket that is bound to the port on every address of this machine; port 0: the
 * kernel chooses one. 0 or errno (EADDRINUSE). */
int port_bind(int port, int *ret_fd) MUST_USE;

/* True when a server could bind the port now, on every address of this machine. */
bool port_is_free(int port);

/* Ports that this process keeps for its job among all musters of the machine, those of other users
 * and state directories too: a socket of the abstract name "muster-port-N" for each, which the
 * kernel closes with the process (unix(7)). Such names are those of a network, as ports are. The
 * port itself stays unbound, for the program that is to listen there. */
struct port_reservations {
	int *ports;
	int *fds; /* -1: it could not be reserved, for a lack of descriptors */
	size_t count;
};
void port_reservations_done(struct port_reservations *reservations);
/* False where another process has it, or a program is bound to it. */
bool port_reservations_take(struct port_reservations *reservations, int port);
