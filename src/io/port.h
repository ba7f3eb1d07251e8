/* TCP ports of this machine: which may be given away for good, and whether one is free now. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* The wider range of ports that the kernel hands to nobody by itself: below or above
 * net.ipv4.ip_local_port_range, from which outgoing connections take theirs. ERR_LIMIT when that
 * range leaves no room. */
int port_range(int *ret_low, int *ret_high, struct err *err) MUST_USE;

/* A non-blocking socket that is bound to the port on every address of this machine; port 0: the
 * kernel chooses one. 0 or errno (EADDRINUSE). */
int port_bind(int port, int *ret_fd) MUST_USE;

/* True when a server could bind the port now, on every address of this machine. */
bool port_is_free(int port);
