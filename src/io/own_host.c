#include "io/own_host.h"

#include "base/mem.h"
#include "io/network_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

static void free_found(struct addrinfo **found)
{
	if (*found)
		freeaddrinfo(*found);
}

static bool is_own(const struct sockaddr *address)
{
	struct in6_addr found;

	return network_address_read(address, &found) && network_address_is_here(&found);
}

int own_host_check(const char *host, struct err *err)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found CLEANUP(free_found) = NULL;
	int failure = getaddrinfo(host, NULL, &wanted, &found);

	if (failure)
		return err_set(err, ERR_NOT_FOUND, "cannot resolve host '%s': %s", host,
			       gai_strerror(failure));
	for (const struct addrinfo *one = found; one; one = one->ai_next)
		if (is_own(one->ai_addr))
			return 0;
	return err_set(err, ERR_REFUSED, "host '%s' is not this machine", host);
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

/* The kernel chooses the address when a socket is connected; over UDP this sends nothing. */
static char *own_address_towards(const struct addrinfo *peer)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);
	int fd = socket(peer->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char *address = NULL;

	if (fd < 0)
		return NULL;
	if (connect(fd, peer->ai_addr, peer->ai_addrlen) == 0 &&
	    getsockname(fd, (struct sockaddr *) &own, &len) == 0)
		address = ip_of((const struct sockaddr *) &own);
	close(fd);
	return address;
}

char *own_host_interface_towards(const char *ip)
{
	char *address CLEANUP(mem_free_text) = NULL, *own CLEANUP(mem_free_text) = NULL;
	struct in6_addr parsed;

	if (!network_address_parse(ip, &parsed) ||
	    own_host_towards(ip, 1, &address, &own, NULL) < 0 ||
	    !network_address_parse(own, &parsed))
		return NULL;
	return network_address_interface(&parsed);
}

int own_host_towards(const char *host, int port, char **ret_address, char **ret_own_address,
		     struct err *err)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found CLEANUP(free_found) = NULL;
	char *service CLEANUP(mem_free_text) = mem_format("%d", port);
	int failure = getaddrinfo(host, service, &wanted, &found);

	if (failure)
		return err_set(err, ERR_NOT_FOUND, "cannot resolve host '%s': %s", host,
			       gai_strerror(failure));
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
