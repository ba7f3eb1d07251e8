#include "io/network_address.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>

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

/* The network interface of this machine that has it, as far as it shows its addresses; NULL: none.
 * Caller frees. */
static char *find_interface(const struct in6_addr *address)
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
	char *interface CLEANUP(mem_free_text) = find_interface(address);

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

/* Hosts by name. */

static void free_found(struct addrinfo **found)
{
	if (*found)
		freeaddrinfo(*found);
}

static char *ip_of(const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr found;

	if (!network_address_read(address, &found))
		return NULL;
	network_address_write(&found, text);
	return mem_copy_text(text);
}

/* Looks up the name. */
static int look_up(const char *host, const char *service, int type, struct addrinfo **ret_found,
		   struct err *err)
{
	const struct addrinfo wanted = {.ai_socktype = type};
	int failure = getaddrinfo(host, service, &wanted, ret_found);

	return failure ? err_set(err, ERR_NOT_FOUND, "cannot resolve host '%s': %s", host,
				 gai_strerror(failure))
		       : 0;
}

int own_host_check(const char *host, struct err *err)
{
	struct addrinfo *found CLEANUP(free_found) = NULL;
	struct in6_addr address;
	int rc = look_up(host, NULL, SOCK_STREAM, &found, err);

	if (rc < 0)
		return rc;
	for (const struct addrinfo *one = found; one; one = one->ai_next)
		if (network_address_read(one->ai_addr, &address) &&
		    network_address_is_here(&address))
			return 0;
	return err_set(err, ERR_REFUSED, "host '%s' is not this machine", host);
}

/* The kernel chooses the address when a socket is connected; over UDP this sends nothing. */
static char *own_address_towards(const struct addrinfo *peer)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	int fd CLEANUP(file_close) = socket(peer->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, peer->ai_addr, peer->ai_addrlen) == 0 &&
			       getsockname(fd, (struct sockaddr *) &own, &len) == 0
		       ? ip_of((const struct sockaddr *) &own)
		       : NULL;
}

char *own_host_interface_towards(const char *ip)
{
	char *address CLEANUP(mem_free_text) = NULL, *own CLEANUP(mem_free_text) = NULL;
	struct in6_addr parsed;

	if (!network_address_parse(ip, &parsed) ||
	    own_host_towards(ip, 1, &address, &own, NULL) < 0 ||
	    !network_address_parse(own, &parsed))
		return NULL;
	return find_interface(&parsed);
}

int own_host_towards(const char *host, int port, char **ret_address, char **ret_own_address,
		     struct err *err)
{
	struct addrinfo *found CLEANUP(free_found) = NULL;
	char *service CLEANUP(mem_free_text) = mem_format("%d", port);
	int rc = look_up(host, service, SOCK_DGRAM, &found, err);

	if (rc < 0)
		return rc;
	for (const struct addrinfo *one = found; one; one = one->ai_next) {
		char *own = own_address_towards(one);

		if (!own)
			continue;
		*ret_own_address = own;
		*ret_address = ip_of(one->ai_addr);
		return 0;
	}
	return err_set(err, ERR_UNREACHABLE, "no route to host '%s'", host);
}

struct host_lookup {
	char *host;
	struct addrinfo wanted;
	struct gaicb request;
	struct gaicb *requests[1];
};

/* Lookups that the thread may still write to. */
static struct host_lookup *abandoned;

struct host_lookup *host_lookup_new(const char *host)
{
	struct host_lookup *lookup = mem_new(sizeof(*lookup));

	lookup->host = mem_copy_text(host);
	lookup->wanted.ai_socktype = SOCK_STREAM;
	lookup->request.ar_name = lookup->host;
	lookup->request.ar_request = &lookup->wanted;
	lookup->requests[0] = &lookup->request;
	/* If it does not begin, gai_error says so. */
	(void) getaddrinfo_a(GAI_NOWAIT, lookup->requests, 1, NULL);
	return lookup;
}

bool host_lookup_is_done(struct host_lookup *lookup, char **ret_address)
{
	int state = gai_error(&lookup->request);

	*ret_address = state == 0 ? ip_of(lookup->request.ar_result->ai_addr) : NULL;
	return state != EAI_INPROGRESS;
}

void host_lookup_free(struct host_lookup *lookup)
{
	if (!lookup)
		return;
	if (gai_error(&lookup->request) == EAI_INPROGRESS &&
	    gai_cancel(&lookup->request) != EAI_CANCELED) {
		abandoned = lookup;
		return;
	}
	if (lookup->request.ar_result)
		freeaddrinfo(lookup->request.ar_result);
	free(lookup->host);
	free(lookup);
}
