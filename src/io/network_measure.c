/* One exchange after the other over a blocking conversation, each with its own limit.
 *
 * The clock is compared as NTP does it (RFC 5905, section 8): the peer's times of receiving and
 * sending lie between ours of sending and receiving, and the exchange that took least says most. */
#include "io/network_measure.h"

#include "base/own.h"
#include "io/loop.h"
#include "io/network_frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A peer that listens may be busy; what it is sent then must arrive sooner. */
#define LEAST_PATIENCE ((msec) 2000)
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
	int64_t begun = network_steady_clock(), sent = network_wall_clock();
	int failure = network_send(fd, bytes, sizeof(bytes), until);

	if (!failure)
		failure = send_zeros(fd, length, until);
	if (!failure)
		failure = receive_answer(fd, question, until, &answer, finding);
	if (failure)
		return failure;
	int64_t received = network_wall_clock();

	*ret_exchange = (struct exchange){
		.seconds = seconds_of(network_steady_clock() - begun),
		.clock = (seconds_of(answer.received - sent) + seconds_of(answer.sent - received)) /
			 2,
	};
	return 0;
}

/* Whoever is first waits as long as the peer may need to come up. */
static int greet(int fd, const struct network_question *question, struct network_finding *finding)
{
	msec least = loop_monotonic_now() + LEAST_PATIENCE;
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

bool network_measure(int fd, const struct network_question *question,
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
