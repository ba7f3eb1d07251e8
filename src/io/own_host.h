/* Hosts by name: whether one is this machine, and how this machine reaches it. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* 0 when one of the addresses of `host` (a name, or an address without brackets) is this machine's.
 * ERR_NOT_FOUND: the name is unknown; ERR_REFUSED: it is another machine's. Looks up the name,
 * which may take as long as the resolver needs. */
int own_host_check(const char *host, struct err *err) MUST_USE;

/* The network interface on the route to an IP address; an address of this machine leads to its own
 * interface. NULL: no route, or no such interface. Caller frees. */
char *own_host_interface_towards(const char *ip) MUST_USE;

/* The IP address of a host (a name, or an address without brackets), and this machine's address on
 * the route to it, under which the host sees us. The caller frees both. ERR_NOT_FOUND: the name is
 * unknown; ERR_UNREACHABLE: no route. Looks up the name, as above. */
int own_host_towards(const char *host, int port, char **ret_address, char **ret_own_address,
		     struct err *err) MUST_USE;
