#include "io/own_host.h"

#include "io/network_address.h"

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

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
		return err_set(err, ERR_NOT_FOUND, "host '%s' is not known here: %s", host,
			       gai_strerror(failure));
	for (const struct addrinfo *one = found; one; one = one->ai_next)
		if (is_own(one->ai_addr))
			return 0;
	return err_set(err, ERR_REFUSED, "host '%s' is not this machine", host);
}
