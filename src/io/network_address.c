#include "io/network_address.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>

/* The offset of the four bytes of IPv4 in an IPv6 address (RFC 4291, section 2.5.5.2). */
#define MAPPED_AT 12

static void free_interfaces(struct ifaddrs **interfaces)
{
	if (*interfaces)
		freeifaddrs(*interfaces);
}

bool network_address_read(const struct sockaddr *address, struct in6_addr *ret_address)
{
	struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (address->sa_family == AF_INET) {
		memcpy(&mapped.s6_addr[MAPPED_AT],
		       &((const struct sockaddr_in *) (const void *) address)->sin_addr,
		       sizeof(struct in_addr));
		*ret_address = mapped;
	} else if (address->sa_family == AF_INET6) {
		*ret_address = ((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;
	}
	return address->sa_family == AF_INET || address->sa_family == AF_INET6;
}

bool network_address_parse(const char *text, struct in6_addr *ret_address)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return network_address_read((const struct sockaddr *) &v4, ret_address);
	return inet_pton(AF_INET6, text, ret_address) == 1;
}

static bool is_same_address(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool network_address_is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[MAPPED_AT] == 127);
}

bool network_address_names_loopback(const char *host)
{
	struct in6_addr found;

	return text_equals_ignoring_case(host, "localhost") || text_ends_with(host, ".localhost") ||
	       (network_address_parse(host, &found) && network_address_is_loopback(&found));
}

char *network_address_interface(const struct in6_addr *address)
{
	struct ifaddrs *interfaces CLEANUP(free_interfaces) = NULL;
	struct in6_addr own;

	if (getifaddrs(&interfaces) < 0)
		return NULL;
	for (const struct ifaddrs *one = interfaces; one; one = one->ifa_next)
		if (one->ifa_addr && network_address_read(one->ifa_addr, &own) &&
		    is_same_address(&own, address))
			return mem_copy_text(one->ifa_name);
	return NULL;
}

bool network_address_is_here(const struct in6_addr *address)
{
	/* An interface shows only the first address of 127.0.0.0/8. */
	if (network_address_is_loopback(address))
		return true;
	char *interface CLEANUP(mem_free_text) = network_address_interface(address);

	return interface;
}

void network_address_write(const struct in6_addr *address, char ret_text[INET6_ADDRSTRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(address))
		inet_ntop(AF_INET, &address->s6_addr[MAPPED_AT], ret_text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, address, ret_text, INET6_ADDRSTRLEN);
}

void network_addresses_add(struct network_addresses *addresses, const struct in6_addr *address)
{
	if (addresses->count < NETWORK_ADDRESSES_MOST &&
	    !network_addresses_have(addresses, address))
		addresses->list[addresses->count++] = *address;
}

bool network_addresses_have(const struct network_addresses *addresses,
			    const struct in6_addr *address)
{
	for (size_t i = 0; i < addresses->count; i++)
		if (is_same_address(&addresses->list[i], address))
			return true;
	return false;
}
