#include "io/host_lookup.h"

#include "base/mem.h"
#include "io/network_address.h"

#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

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
	char text[INET6_ADDRSTRLEN];
	struct in6_addr found;

	*ret_address = NULL;
	if (state == EAI_INPROGRESS)
		return false;
	if (state == 0 && network_address_read(lookup->request.ar_result->ai_addr, &found)) {
		network_address_write(&found, text);
		*ret_address = mem_copy_text(text);
	}
	return true;
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
