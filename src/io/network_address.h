/* Addresses of machines in a comparable form: an IPv4 address is mapped to IPv6, as a socket for
 * both shows it (::ffff:10.0.0.1). Ports and zones are ignored. And hosts by name: whether one is
 * this machine, how this machine reaches it, and its address, without waiting for it. */
#pragma once

#include "base/err.h"

#include <netinet/in.h>

#define NETWORK_ADDRESSES_MOST 16

struct network_addresses {
	struct in6_addr list[NETWORK_ADDRESSES_MOST];
	size_t count;
};

/* False for other address families. */
bool network_address_read(const struct sockaddr *address, struct in6_addr *ret_address);
/* Reads an IP address without brackets. False: it is none. */
bool network_address_parse(const char *text, struct in6_addr *ret_address);
bool network_address_is_loopback(const struct in6_addr *address); /* 127.0.0.0/8 or ::1 */
/* Whether a host (a name, or an address without brackets) is loopback for every machine: such an
 * address, or localhost (RFC 6761, 6.3). Looks up nothing: a machine's own name may be 127.0.1.1 on
 * the machine itself, and another address for the others. */
bool network_address_names_loopback(const char *host);
/* Whether it is this machine's: any of 127.0.0.0/8, or of a network interface. */
bool network_address_is_here(const struct in6_addr *address);
/* "10.0.0.1" or "fd00::1". */
void network_address_write(const struct in6_addr *address, char ret_text[INET6_ADDRSTRLEN]);

/* Ignores an address that is in the list, or that has no room. */
void network_addresses_add(struct network_addresses *addresses, const struct in6_addr *address);
bool network_addresses_have(const struct network_addresses *addresses,
			    const struct in6_addr *address);

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

struct host_lookup;

/* A thread of the C library looks up the address of a host. */
struct host_lookup *host_lookup_new(const char *host) MUST_USE;
/* Whether it has ended. *ret_address: the IP address, which the caller frees; NULL: none was found,
 * or it has not ended. */
bool host_lookup_is_done(struct host_lookup *lookup, char **ret_address);
/* Does not wait, either: a lookup that cannot be cancelled stays in memory. NULL is fine. */
void host_lookup_free(struct host_lookup *lookup);
