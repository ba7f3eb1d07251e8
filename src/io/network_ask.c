/* One question, by calls that block: it has a process of its own. */
#include "io/network_ask.h"

#include "base/msec.h"
#include "base/own.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/network_finding.h"
#include "io/network_frame.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One exchange after the other over a blocking conversation, each with its own limit.
 *
 * The clock is compared as NTP does it (RFC 5905, section 8): the peer's times of receiving and
 * sending lie between ours of sending and receiving, and the exchange that took least says most. */

/* A peer that listens may be busy; what it is sent then must arrive sooner. */
#define LEAST_MEASURE ((msec) 2000)
#define ECHO_PATIENCE ((msec) 2000)
#define BLOCK_PATIENCE ((msec) 2000)

#define ECHOES 15
#define ECHOES_TIME_LIMIT 0.5

/* Blocks grow until one takes long enough to be measured, or is the largest. */
#define SMALLEST_BLOCK ((uint32_t) 16 * 1024)
#define BLOCK_GROWTH 4
#define LONG_ENOUGH 0.1

struct exchange {
	double seconds; /* there and back */
	double clock; /* how far the peer's clock is ahead */
};

static uint8_t zeros[64 * 1024];

static double seconds_of(int64_t nanoseconds)
{
	return (double) nanoseconds / 1e9;
}

static int send_zeros(int fd, size_t len, msec until)
{
	int failure = 0;

	while (len > 0 && !failure) {
		size_t n_now = len < sizeof(zeros) ? len : sizeof(zeros);

		failure = network_send(fd, zeros, n_now, until);
		len -= n_now;
	}
	return failure;
}

/* What the first bytes of a server that is no muster say. gRPC greets with an HTTP/2 frame of kind
 * SETTINGS on stream 0 (RFC 9113, sections 4.1 and 6.5). */
static const char *stranger_of(const uint8_t *bytes, size_t len)
{
	static const uint8_t settings[] = {0x04, 0x00, 0x00, 0x00, 0x00, 0x00};

	if (len >= 9 && bytes[0] == 0 && !memcmp(bytes + 3, settings, sizeof(settings)))
		return "a gRPC server (TensorFlow's?) has the port already";
	return "something else than muster answers there";
}

/* Reads an answer. EPROTO: the finding says who answered instead. */
static int receive_answer(int fd, const struct network_question *question, msec until,
			  struct network_frame *ret_answer, struct network_finding *finding)
{
	uint8_t bytes[NETWORK_FRAME_SIZE];
	size_t len = 0;
	int failure = network_receive(fd, bytes, sizeof(bytes), until, &len);

	if (failure && len == 0)
		return failure;
	if (failure || !network_frame_read(bytes, ret_answer)) {
		finding->is_stranger = true;
		network_finding_fail(finding, NETWORK_ANSWER, "%s", stranger_of(bytes, len));
		return EPROTO;
	}
	if (!network_frame_has_name(ret_answer, question->peer->name)) {
		network_finding_fail(finding, NETWORK_ANSWER, "%s answers there", ret_answer->name);
		return EPROTO;
	}
	return 0;
}

/* 0 or errno; ETIMEDOUT at `until`. */
static int do_exchange(int fd, const struct network_question *question, uint32_t length, msec until,
		       struct exchange *ret_exchange, struct network_finding *finding)
{
	struct network_frame frame = {.length = length}, answer;
	uint8_t bytes[NETWORK_FRAME_SIZE];

	network_frame_set_name(&frame, question->own_name);
	network_frame_write(&frame, bytes);
	int64_t start = network_steady_clock(), sent = network_wall_clock();
	int failure = network_send(fd, bytes, sizeof(bytes), until);

	if (!failure)
		failure = send_zeros(fd, length, until);
	if (!failure)
		failure = receive_answer(fd, question, until, &answer, finding);
	if (failure)
		return failure;
	int64_t received = network_wall_clock();

	*ret_exchange = (struct exchange){
		.seconds = seconds_of(network_steady_clock() - start),
		.clock = (seconds_of(answer.received - sent) + seconds_of(answer.sent - received)) /
			 2,
	};
	return 0;
}

/* The first one waits as long as the peer may need to come up. */
static int greet(int fd, const struct network_question *question, struct network_finding *finding)
{
	msec least = loop_monotonic_now() + LEAST_MEASURE;
	msec until = question->until > least ? question->until : least;
	struct exchange first;
	int failure = do_exchange(fd, question, 0, until, &first, finding);

	if (failure == ETIMEDOUT)
		network_finding_fail(finding, NETWORK_ANSWER,
				     "timed out: the port opens, but nobody answers");
	else if (failure == ENODATA)
		network_finding_fail(finding, NETWORK_ANSWER,
				     "the connection was closed without an answer");
	else if (failure && failure != EPROTO)
		network_finding_fail_errno(finding, NETWORK_ANSWER, failure);
	if (!failure) {
		finding->round_trip = first.seconds;
		finding->clock = first.clock;
	}
	return failure;
}

static int compare_reals(const void *a, const void *b)
{
	double first = *(const double *) a, second = *(const double *) b;

	return (first > second) - (first < second);
}

/* What fails from here on leaves what is known already. */
static void measure_round_trip(int fd, const struct network_question *question,
			       struct network_finding *finding)
{
	double seconds[ECHOES], sum = 0, least = 0;
	size_t n_done = 0;

	while (n_done < ECHOES && sum < ECHOES_TIME_LIMIT) {
		struct exchange echo;
		msec until = loop_monotonic_now() + ECHO_PATIENCE;

		if (do_exchange(fd, question, 0, until, &echo, finding))
			return;
		seconds[n_done++] = echo.seconds;
		sum += echo.seconds;
		if (n_done == 1 || echo.seconds < least) {
			least = echo.seconds;
			finding->clock = echo.clock;
		}
	}
	qsort(seconds, n_done, sizeof(seconds[0]), compare_reals);
	finding->round_trip = seconds[n_done / 2];
}

/* A way that lets small messages pass and loses large ones is the classic of wrong MTUs: everything
 * connects, and the first real tensor hangs. */
static void measure_bandwidth(int fd, const struct network_question *question,
			      struct network_finding *finding)
{
	for (uint32_t size = SMALLEST_BLOCK; size <= NETWORK_LENGTH_LIMIT; size *= BLOCK_GROWTH) {
		struct exchange block;
		msec until = loop_monotonic_now() + BLOCK_PATIENCE;
		int failure = do_exchange(fd, question, size, until, &block, finding);

		if (failure == ETIMEDOUT && size == SMALLEST_BLOCK)
			network_finding_fail(finding, NETWORK_ANSWER,
					     "small messages pass, but %u bytes do not within %d "
					     "s: is the MTU of the network right?",
					     size, (int) (BLOCK_PATIENCE / MSEC_PER_SECOND));
		if (failure)
			return;
		finding->bandwidth = size / (block.seconds > 1e-9 ? block.seconds : 1e-9);
		if (block.seconds > LONG_ENOUGH)
			return;
	}
}

static bool take_turn(const struct network_question *question)
{
	char byte;

	while (network_wait(question->turn[0], POLLIN, question->until) == 0)
		if (read(question->turn[0], &byte, 1) == 1)
			return true; /* else another one was quicker */
	return false;
}

static void give_turn_back(const struct network_question *question)
{
	/* There is room in a pipe for a byte that has just been taken out. */
	ssize_t n_written = write(question->turn[1], "", 1);

	(void) n_written;
}

/* Sets the stage of the finding (NETWORK_DONE, or NETWORK_ANSWER with the error), and what was
 * measured. False when another try may do better: the connection was closed before anything was
 * said, as by a server that is just going. */
static bool network_measure(int fd, const struct network_question *question,
			    struct network_finding *finding)
{
	int failure = greet(fd, question, finding);

	if (failure)
		return failure != ENODATA && failure != ECONNRESET && failure != EPIPE;
	finding->stage = NETWORK_DONE;
	if (!take_turn(question))
		return true;
	measure_round_trip(fd, question, finding);
	if (finding->stage == NETWORK_DONE)
		measure_bandwidth(fd, question, finding);
	give_turn_back(question);
	return true;
}

/* Between two tries. Short, because peers that are started together differ by little. */
#define PAUSE ((msec) 50)
/* For one address, however late it is: a try that ends with the time must not say "timed out" of a
 * port that refuses. */
#define LEAST_PATIENCE ((msec) 1000)

static double seconds_since(int64_t start)
{
	return (double) (network_steady_clock() - start) / 1e9;
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
	int64_t start = network_steady_clock();
	char port[16];

	snprintf(port, sizeof(port), "%d", peer->port);
	int failure = getaddrinfo(peer->host, port, &wanted, &addresses);

	finding->resolve = seconds_since(start);
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
	int64_t start = network_steady_clock();
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
			finding->connect = seconds_since(start);
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
