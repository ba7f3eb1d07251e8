/* One question, by calls that block: it has a process of its own. */
#include "io/network_ask.h"

#include "io/file.h"
#include "io/loop.h"
#include "io/network_frame.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Between two tries. Short, because peers that are started together differ by little. */
#define PAUSE ((msec) 50)
/* For one address, however late it is: a try that ends with the time must not say "timed out" of a
 * port that refuses. */
#define LEAST_PATIENCE ((msec) 1000)

static double seconds_since(int64_t begun)
{
	return (double) (network_steady_clock() - begun) / 1e9;
}

static void fail_to_resolve(struct network_finding *finding, int failure, int errno_value)
{
	if (failure == EAI_SYSTEM)
		network_finding_fail_errno(finding, NETWORK_RESOLVE, errno_value);
	else
		network_finding_fail(finding, NETWORK_RESOLVE, "%s",
				     failure == EAI_NONAME ? "name not known"
							   : gai_strerror(failure));
}

/* NULL when there is none: the finding says why. */
static struct addrinfo *resolve(const struct network_peer *peer, struct network_finding *finding)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *addresses = NULL;
	int64_t begun = network_steady_clock();
	char port[16];

	snprintf(port, sizeof(port), "%d", peer->port);
	int failure = getaddrinfo(peer->host, port, &wanted, &addresses);

	finding->resolve = seconds_since(begun);
	if (failure)
		fail_to_resolve(finding, failure, errno);
	return failure ? NULL : addresses;
}

/* 0 or errno. */
static int await_connection(int fd, msec until)
{
	int failure = network_wait(fd, POLLOUT, until);
	socklen_t size = sizeof(failure);

	if (!failure && getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) < 0)
		failure = errno;
	return failure;
}

/* A connected socket, or -1 with errno in *ret_failure. */
static int connect_to(const struct addrinfo *address, msec until, int *ret_failure)
{
	const int yes = 1;
	int fd CLEANUP(file_close) =
		socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*ret_failure = 0;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (fd < 0 || connect(fd, address->ai_addr, address->ai_addrlen) < 0)
		*ret_failure = errno;
	if (fd >= 0 && *ret_failure == EINPROGRESS)
		*ret_failure = await_connection(fd, until);
	if (*ret_failure)
		return -1;
	int connected = fd;

	fd = -1;
	return connected;
}

static size_t count_of(const struct addrinfo *address)
{
	size_t count = 0;

	for (; address; address = address->ai_next)
		count++;
	return count;
}

/* A name with addresses of both kinds fails as far as its best address comes: that this machine
 * has no IPv6 is no news about the peer. */
static bool says_nothing_of_peer(int failure)
{
	return failure == 0 || failure == ENETUNREACH || failure == EAFNOSUPPORT ||
	       failure == EADDRNOTAVAIL;
}

/* Tries the addresses one after the other, each for its part of the time that is left. */
static int connect_to_any(const struct addrinfo *addresses, msec until,
			  struct network_finding *finding)
{
	size_t n_left = count_of(addresses);
	int64_t begun = network_steady_clock();
	int worst = 0;

	for (const struct addrinfo *address = addresses; address; address = address->ai_next) {
		msec now = loop_monotonic_now(), part = (until - now) / (msec) n_left--;
		msec patience = part > LEAST_PATIENCE ? part : LEAST_PATIENCE;
		int failure, fd = connect_to(address, now + patience, &failure);

		if (fd < 0 && !says_nothing_of_peer(worst))
			continue;
		getnameinfo(address->ai_addr, address->ai_addrlen, finding->address,
			    sizeof(finding->address), NULL, 0, NI_NUMERICHOST);
		worst = failure;
		if (fd >= 0) {
			finding->connect = seconds_since(begun);
			return fd;
		}
	}
	network_finding_fail_errno(finding, NETWORK_CONNECT, worst);
	return -1;
}

/* What a failed measure has left unsent would hold back the news that we are gone. */
static bool measure_and_close(int fd, const struct network_question *question,
			      struct network_finding *finding)
{
	bool is_final = network_measure(fd, question, finding);

	if (finding->stage == NETWORK_DONE)
		close(fd);
	else
		network_break(fd);
	return is_final;
}

/* False when another try may do better. */
static bool try_once(const struct network_question *question, struct network_finding *ret_finding)
{
	struct network_finding finding = {0};
	struct addrinfo *addresses = resolve(question->peer, &finding);
	int fd = addresses ? connect_to_any(addresses, question->until, &finding) : -1;
	bool is_final = !question->own_name;

	if (addresses)
		freeaddrinfo(addresses);
	if (fd >= 0 && question->own_name) {
		is_final = measure_and_close(fd, question, &finding);
	} else if (fd >= 0) {
		finding.stage = NETWORK_DONE;
		close(fd);
	}
	*ret_finding = finding;
	return is_final;
}

void network_ask(const struct network_question *question, struct network_finding *ret_finding)
{
	while (!try_once(question, ret_finding) && loop_monotonic_now() + PAUSE < question->until)
		poll(NULL, 0, (int) PAUSE);
}
