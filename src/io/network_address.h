/* Addresses of machines in a comparable form: an IPv4 address is mapped to IPv6, as a socket for
 * both shows it (::ffff:10.0.0.1). Ports and zones are ignored. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

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
/* The network interface of this machine that has it, as far as it shows its addresses; NULL: none.
 * Caller frees. */
char *network_address_interface(const struct in6_addr *address);
/* Whether it is this machine's: any of 127.0.0.0/8, or of a network interface. */
bool network_address_is_here(const struct in6_addr *address);
/* "10.0.0.1" or "fd00::1". */
void network_address_write(const struct in6_addr *address, char ret_text[INET6_ADDRSTRLEN]);

/* Ignores an address that is in the list, or that has no room. */
void network_addresses_add(struct network_addresses *addresses, const struct in6_addr *address);
bool network_addresses_have(const struct network_addresses *addresses,
			    const struct in6_addr *address);
