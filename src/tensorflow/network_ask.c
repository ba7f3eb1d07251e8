#include "tensorflow/network_ask.h"

#include "base/text.h"
#include "io/file.h"
#include "io/loop.h"

#include <ctype.h>
#include <endian.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* Exchanges over one connection, each with its own limit.
 *
 * The clock is compared as in NTP (RFC 5905, section 8): the peer's times of receiving and sending
 * are between ours of sending and receiving, and the shortest exchange is the most precise. */

/* A listening peer may be busy at first; later messages must arrive sooner. */
#define LEAST_MEASURE ((msec) 2000)
#define PATIENCE ((msec) 2000)

#define ECHOES 15
#define ECHOES_TIME_LIMIT 0.5

/* Blocks grow until one takes long enough to measure, or is the largest. */
#define SMALLEST_BLOCK 16384
#define BLOCK_GROWTH 4
#define LONG_ENOUGH 0.1

const char *const network_stage_words[4] = {"resolve", "connect", "answer", "done"};

static const char magic[8] = "muster2";

_Static_assert(sizeof(struct network_frame) == 96, "the frame has no gaps");

void network_frame_init(struct network_frame *frame, const char *name, uint64_t length)
{
	*frame = (struct network_frame){.length = htobe64(length)};
	memcpy(frame->magic, magic, sizeof(magic));
	snprintf(frame->name, sizeof(frame->name), "%s", name);
	for (char *byte = frame->name; *byte; byte++)
		if (!text_is_graphic(byte, 1))
			*byte = '?';
}

bool network_frame_is_ours(const struct network_frame *frame)
{
	size_t len = strnlen(frame->name, sizeof(frame->name));

	return !memcmp(frame->magic, magic, sizeof(magic)) && len < sizeof(frame->name) &&
	       text_is_graphic(frame->name, len) && be64toh(frame->length) <= NETWORK_LENGTH_LIMIT;
}

bool network_frame_has_name(const struct network_frame *frame, const char *name)
{
	struct network_frame other;

	network_frame_init(&other, name, 0);
	return !strcmp(frame->name, other.name);
}

uint64_t network_wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

void network_break(int fd)
{
	const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

struct exchange {
	double seconds; /* round trip */
	double clock; /* peer's clock minus ours */
};

void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *error)
{
	finding->stage = stage;
	snprintf(finding->error, sizeof(finding->error), "%s", error);
	if (islower((unsigned char) finding->error[1]))
		finding->error[0] = (char) tolower((unsigned char) finding->error[0]);
}

static void fail_errno(struct network_finding *finding, enum network_stage stage, int failure)
{
	bool is_late = failure == ETIMEDOUT || failure == EAGAIN || failure == EINPROGRESS;

	network_finding_fail(finding, stage, is_late ? "timed out" : strerror(failure));
}

/* By the monotonic clock. */
static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Limits each connect, send and receive; they fail with EINPROGRESS or EAGAIN. */
static void set_patience(int fd, msec patience)
{
	const struct timeval limit = {
		.tv_sec = patience / MSEC_PER_SECOND,
		.tv_usec = patience % MSEC_PER_SECOND * 1000,
	};

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* 0 or errno: ENODATA if the other side has closed, EPROTO if the finding says what answered. */
static int receive_answer(int fd, const struct network_peer *peer, struct network_frame *ret_answer,
			  struct network_finding *finding)
{
	static const char settings[] = {0x04, 0x00, 0x00, 0x00, 0x00, 0x00};
	const char *bytes = (const char *) ret_answer;
	ssize_t len = recv(fd, ret_answer, sizeof(*ret_answer), MSG_WAITALL);

	if (len <= 0)
		return len < 0 ? errno : ENODATA;
	/* gRPC begins with an HTTP/2 frame SETTINGS on stream 0 (RFC 9113, 4.1 and 6.5). */
	bool is_grpc = len >= 9 && bytes[0] == 0 && !memcmp(bytes + 3, settings, sizeof(settings));

	if (len < (ssize_t) sizeof(*ret_answer) || !network_frame_is_ours(ret_answer)) {
		finding->is_stranger = true;
		network_finding_fail(finding, NETWORK_ANSWER,
				     is_grpc ? "a gRPC server (TensorFlow's?) already has the port"
					     : "another program than muster responds");
		return EPROTO;
	}
	if (!network_frame_has_name(ret_answer, peer->name)) {
		char error[sizeof(finding->error)];

		snprintf(error, sizeof(error), "%s answers there", ret_answer->name);
		network_finding_fail(finding, NETWORK_ANSWER, error);
		return EPROTO;
	}
	return 0;
}

/* One call, with one time limit for all. `length` is a multiple of the smallest block. */
static int send_message(int fd, const char *own_name, size_t length)
{
	static char zeros[SMALLEST_BLOCK];
	struct network_frame frame;
	struct iovec parts[1 + NETWORK_LENGTH_LIMIT / SMALLEST_BLOCK] = {{&frame, sizeof(frame)}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 1 + length / SMALLEST_BLOCK};

	network_frame_init(&frame, own_name, length);
	for (size_t i = 1; i < message.msg_iovlen; i++)
		parts[i] = (struct iovec){zeros, sizeof(zeros)};
	ssize_t n_sent = sendmsg(fd, &message, MSG_NOSIGNAL);

	if (n_sent < 0)
		return errno;
	return (size_t) n_sent < sizeof(frame) + length ? ETIMEDOUT : 0;
}

/* Nanoseconds between two times. */
static double between(uint64_t from, uint64_t to)
{
	return (double) (int64_t) (to - from);
}

/* Returns 0 or errno: EAGAIN or ETIMEDOUT if it took too long. */
static int do_exchange(int fd, const struct network_question *question, size_t length,
		       struct exchange *ret_exchange, struct network_finding *finding)
{
	struct network_frame answer;
	double start = seconds_now();
	uint64_t sent = network_wall_clock();
	int failure = send_message(fd, question->own_name, length);

	if (!failure)
		failure = receive_answer(fd, question->peer, &answer, finding);
	if (failure)
		return failure;
	uint64_t received = network_wall_clock();

	ret_exchange->seconds = seconds_now() - start;
	ret_exchange->clock = (between(sent, be64toh(answer.received)) +
			       between(received, be64toh(answer.sent))) /
			      2 / 1e9;
	return 0;
}

static void update_least_round_trip(struct network_finding *finding,
				    const struct exchange *exchange)
{
	if (finding->round_trip > 0 && finding->round_trip <= exchange->seconds)
		return;
	finding->round_trip = exchange->seconds;
	finding->clock = exchange->clock;
}

/* The first exchange waits as long as the peer may need to come up. */
static int greet(int fd, const struct network_question *question, struct network_finding *finding)
{
	msec left = instant_since(loop_monotonic_now(), question->until);
	struct exchange first;

	set_patience(fd, left > LEAST_MEASURE ? left : LEAST_MEASURE);
	int failure = do_exchange(fd, question, 0, &first, finding);

	if (!failure)
		update_least_round_trip(finding, &first);
	else if (failure == EAGAIN || failure == ETIMEDOUT)
		network_finding_fail(finding, NETWORK_ANSWER,
				     "timed out: the port is open, but no program responds");
	else if (failure == ENODATA)
		network_finding_fail(finding, NETWORK_ANSWER,
				     "the connection was closed without a response");
	else if (failure != EPROTO)
		fail_errno(finding, NETWORK_ANSWER, failure);
	return failure;
}

/* A link that passes small messages and drops large ones is typical of a wrong MTU: everything
 * connects, and the first real tensor hangs. */
static void measure_bandwidth(int fd, const struct network_question *question,
			      struct network_finding *finding)
{
	for (size_t size = SMALLEST_BLOCK; size <= NETWORK_LENGTH_LIMIT; size *= BLOCK_GROWTH) {
		struct exchange block;
		int failure = do_exchange(fd, question, size, &block, finding);

		if ((failure == EAGAIN || failure == ETIMEDOUT) && size == SMALLEST_BLOCK)
			network_finding_fail(finding, NETWORK_ANSWER,
					     "small messages arrive, but 16384 bytes do not within "
					     "2 s; check the MTU of the network");
		if (failure)
			return;
		finding->bandwidth = (double) size / (block.seconds > 1e-9 ? block.seconds : 1e-9);
		if (block.seconds > LONG_ENOUGH)
			return;
	}
}

static bool acquire_question_token(const struct network_question *question)
{
	struct pollfd turn = {.fd = question->turn[0], .events = POLLIN};
	msec left;
	char byte;

	while ((left = instant_since(loop_monotonic_now(), question->until)) > 0)
		if (poll(&turn, 1, (int) msec_min(left, MSEC_PER_SECOND)) > 0 &&
		    read(question->turn[0], &byte, 1) == 1)
			return true; /* else another process took it */
	return false;
}

/* Sets the stage of the finding (NETWORK_DONE, or NETWORK_ANSWER with the error) and the
 * measurements. Returns false if a retry may succeed: the connection was closed before the first
 * byte, as by a server that is shutting down. */
static bool measure_network_peer(int fd, const struct network_question *question,
				 struct network_finding *finding)
{
	int failure = greet(fd, question, finding);

	if (failure)
		return failure != ENODATA && failure != ECONNRESET && failure != EPIPE;
	finding->stage = NETWORK_DONE;
	if (!acquire_question_token(question))
		return true;
	set_patience(fd, PATIENCE);
	/* A later failure keeps the results so far. */
	double start = seconds_now();
	struct exchange echo;

	for (int i = 0; i < ECHOES && seconds_now() - start < ECHOES_TIME_LIMIT &&
			!do_exchange(fd, question, 0, &echo, finding);
	     i++)
		update_least_round_trip(finding, &echo);
	if (finding->stage == NETWORK_DONE)
		measure_bandwidth(fd, question, finding);
	/* The pipe has room for the byte that was just taken out. */
	return write(question->turn[1], "", 1) == 1;
}

/* Between two tries. Short, because peers that are started together differ by little. */
#define PAUSE ((msec) 50)
/* Minimum for one address, even at the end: a refusing port must not be "timed out". */
#define LEAST_PATIENCE ((msec) 1000)

/* NULL on failure: the finding says why. */
static struct addrinfo *resolve(const struct network_peer *peer, struct network_finding *finding)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *addresses = NULL;
	double start = seconds_now();
	char port[16];

	snprintf(port, sizeof(port), "%d", peer->port);
	int failure = getaddrinfo(peer->host, port, &wanted, &addresses);

	finding->resolve = seconds_now() - start;
	if (failure == EAI_SYSTEM)
		fail_errno(finding, NETWORK_RESOLVE, errno);
	else if (failure)
		network_finding_fail(finding, NETWORK_RESOLVE,
				     failure == EAI_NONAME ? "name not known"
							   : gai_strerror(failure));
	return failure ? NULL : addresses;
}

/* Returns a connected socket, or -1 and errno. */
static int connect_to(const struct addrinfo *address, msec patience)
{
	const int yes = 1;
	int fd CLEANUP(file_close) = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	set_patience(fd, patience);
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0)
		return -1;
	int connected = fd;

	fd = -1;
	return connected;
}

/* If a name has IPv4 and IPv6 addresses, the best failure counts. That this machine has no IPv6
 * says nothing about the peer. */
static bool says_nothing_of_peer(int failure)
{
	return failure == 0 || failure == ENETUNREACH || failure == EAFNOSUPPORT ||
	       failure == EADDRNOTAVAIL;
}

/* Tries the addresses in turn, each for its part of the remaining time. */
static int connect_to_any(const struct addrinfo *addresses, instant until,
			  struct network_finding *finding)
{
	msec n_left = 0;
	double start = seconds_now();
	int worst = 0;

	for (const struct addrinfo *address = addresses; address; address = address->ai_next)
		n_left++;
	for (const struct addrinfo *address = addresses; address; address = address->ai_next) {
		msec part = instant_since(loop_monotonic_now(), until) / n_left--;
		int fd = connect_to(address, part > LEAST_PATIENCE ? part : LEAST_PATIENCE);
		int failure = errno;

		if (fd < 0 && !says_nothing_of_peer(worst))
			continue;
		getnameinfo(address->ai_addr, address->ai_addrlen, finding->address,
			    sizeof(finding->address), NULL, 0, NI_NUMERICHOST);
		worst = failure;
		if (fd >= 0) {
			finding->connect = seconds_now() - start;
			return fd;
		}
	}
	fail_errno(finding, NETWORK_CONNECT, worst);
	return -1;
}

/* Returns false if a retry may succeed. */
static bool try_once(const struct network_question *question, struct network_finding *ret_finding)
{
	struct network_finding finding = {0};
	struct addrinfo *addresses = resolve(question->peer, &finding);
	int fd = addresses ? connect_to_any(addresses, question->until, &finding) : -1;
	bool is_final = !question->own_name;
	struct in6_addr found;

	for (const struct addrinfo *one = addresses; one; one = one->ai_next)
		if (network_address_read(one->ai_addr, &found))
			network_addresses_add(&finding.addresses, &found);
	if (addresses)
		freeaddrinfo(addresses);
	if (fd >= 0 && question->own_name)
		is_final = measure_network_peer(fd, question, &finding);
	else if (fd >= 0)
		finding.stage = NETWORK_DONE;
	/* Unsent bytes of a failed measurement would delay the end of the connection. */
	if (finding.stage == NETWORK_DONE)
		close(fd);
	else if (fd >= 0)
		network_break(fd);
	*ret_finding = finding;
	return is_final;
}

void network_ask(const struct network_question *question, struct network_finding *ret_finding)
{
	while (!try_once(question, ret_finding) &&
	       instant_since(loop_monotonic_now(), question->until) > PAUSE)
		poll(NULL, 0, (int) PAUSE);
}
