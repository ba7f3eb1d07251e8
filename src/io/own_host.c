#include "io/own_host.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

static void free_found(struct addrinfo **found)
{
	if (*found)
		freeaddrinfo(*found);
}

static void free_interfaces(struct ifaddrs **interfaces)
{
	if (*interfaces)
		freeifaddrs(*interfaces);
}

/* The bytes of an address without its port and zone; NULL for other families. */
static const void *bytes_of(const struct sockaddr *address, size_t *ret_size)
{
	if (address->sa_family == AF_INET) {
		*ret_size = sizeof(struct in_addr);
		return &((const struct sockaddr_in *) (const void *) address)->sin_addr;
	}
	if (address->sa_family == AF_INET6) {
		*ret_size = sizeof(struct in6_addr);
		return &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;
	}
	return NULL;
}

/* 127.0.0.0/8 is this machine, though an interface names only its first address. */
static bool is_loopback(const struct sockaddr *address)
{
	size_t size;
	const unsigned char *bytes = bytes_of(address, &size);

	return address->sa_family == AF_INET && bytes[0] == 127;
}

static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
	size_t size = 0;
	const void *one = bytes_of(a, &size), *other = bytes_of(b, &size);

	return one && other && a->sa_family == b->sa_family && !memcmp(one, other, size);
}

static bool is_own(const struct sockaddr *address, const struct ifaddrs *interfaces)
{
	if (is_loopback(address))
		return true;
	for (; interfaces; interfaces = interfaces->ifa_next)
		if (interfaces->ifa_addr && is_same(address, interfaces->ifa_addr))
			return true;
	return false;
}

int own_host_check(const char *host, struct err *err)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found CLEANUP(free_found) = NULL;
	struct ifaddrs *interfaces CLEANUP(free_interfaces) = NULL;
	int failure = getaddrinfo(host, NULL, &wanted, &found);

	if (failure)
		return err_set(err, ERR_NOT_FOUND, "host '%s' is not known here: %s", host,
			       gai_strerror(failure));
	if (getifaddrs(&interfaces) < 0)
		return err_set_errno(err, errno, "cannot list the network interfaces");
	for (const struct addrinfo *one = found; one; one = one->ai_next)
		if (is_own(one->ai_addr, interfaces))
			return 0;
	return err_set(err, ERR_REFUSED, "host '%s' is not this machine", host);
}
