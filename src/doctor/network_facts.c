/* Ports for jobs, the loopback, and whether this machine's name has an address. */
#include "doctor/facts.h"
#include "io/file.h"
#include "io/port.h"
#include "io/private_network.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_SIZE 256
#define PORTS_TRIED 32

/* Tries some ports, evenly over the range: ports in use may be neighbors. */
static bool has_free_port(const struct doctor_network *network)
{
	int count = network->high_port - network->low_port + 1;
	int step = count > PORTS_TRIED ? count / PORTS_TRIED : 1;

	for (int port = network->low_port; port <= network->high_port; port += step)
		if (port_is_free(port))
			return true;
	return false;
}

static void collect_ports(struct doctor_network *network, struct arena *arena)
{
	struct err err;

	if (port_range(&network->low_port, &network->high_port, &err))
		network->port_fault = arena_copy_text(arena, err.text);
	else if (!has_free_port(network))
		network->port_fault = arena_format(arena, "none of %d to %d can be bound",
						   network->low_port, network->high_port);
}

/* A server, and a client that connects to it. 0 or errno. */
static int try_loopback(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int server CLEANUP(file_close) = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client CLEANUP(file_close) = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server < 0 || client < 0 ||
	    bind(server, (const struct sockaddr *) &address, size) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *) &address, &size) < 0 ||
	    connect(client, (const struct sockaddr *) &address, size) < 0)
		return errno;
	return 0;
}

/* Only an address of this machine can be bound. */
static bool is_own_address(const struct addrinfo *address)
{
	int fd CLEANUP(file_close) = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && bind(fd, address->ai_addr, address->ai_addrlen) == 0;
}

static bool has_own_address(const struct addrinfo *list)
{
	for (const struct addrinfo *address = list; address; address = address->ai_next)
		if (is_own_address(address))
			return true;
	return false;
}

static void collect_host_name(struct doctor_network *network, struct arena *arena)
{
	char name[NAME_SIZE] = "localhost";
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;

	/* Limits how long a name server may be silent (resolv.conf(5)). */
	setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
	gethostname(name, sizeof(name) - 1);
	network->host_name = arena_copy_text(arena, name);
	int rc = getaddrinfo(name, NULL, &hints, &list);

	if (rc)
		network->host_fault =
			arena_format(arena, "its address is not known: %s", gai_strerror(rc));
	else if (!has_own_address(list))
		network->host_fault = "its address does not belong to this machine";
	if (!rc)
		freeaddrinfo(list);
}

static void collect_private_network(struct doctor_network *network, struct arena *arena)
{
	struct private_network made CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	struct err err;

	if (private_network_create(&made, &err) < 0)
		network->private_fault = arena_copy_text(arena, err.text);
}

void doctor_collect_network(struct doctor_network *network, struct arena *arena)
{
	int failure = try_loopback();

	if (failure)
		network->loopback_fault = arena_format(arena, "127.0.0.1: %s", strerror(failure));
	collect_ports(network, arena);
	collect_host_name(network, arena);
	collect_private_network(network, arena);
}
