/* Numbers stand in the network's order; what is not used is zero. */
#include "io/network_frame.h"

#include "io/loop.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char magic[8] = "muster1";

struct wire_frame {
	char magic[sizeof(magic)];
	uint32_t length;
	uint32_t unused;
	uint64_t received;
	uint64_t sent;
	char name[NETWORK_NAME_SIZE];
};
_Static_assert(sizeof(struct wire_frame) == NETWORK_FRAME_SIZE, "the frame has no holes");

/* What may be shown on a terminal as it came. */
static bool is_plain(char byte)
{
	return byte > ' ' && byte <= '~';
}

void network_frame_set_name(struct network_frame *frame, const char *name)
{
	snprintf(frame->name, sizeof(frame->name), "%s", name);
	for (char *byte = frame->name; *byte; byte++)
		if (!is_plain(*byte))
			*byte = '?';
}

bool network_frame_has_name(const struct network_frame *frame, const char *name)
{
	struct network_frame other;

	network_frame_set_name(&other, name);
	return !strcmp(frame->name, other.name);
}

void network_frame_write(const struct network_frame *frame, uint8_t bytes[NETWORK_FRAME_SIZE])
{
	struct wire_frame wire = {
		.length = htobe32(frame->length),
		.received = htobe64((uint64_t) frame->received),
		.sent = htobe64((uint64_t) frame->sent),
	};

	memcpy(wire.magic, magic, sizeof(magic));
	memcpy(wire.name, frame->name, sizeof(wire.name));
	memcpy(bytes, &wire, sizeof(wire));
}

static bool is_name(const char name[NETWORK_NAME_SIZE])
{
	size_t len = strnlen(name, NETWORK_NAME_SIZE);

	for (size_t i = 0; i < len; i++)
		if (!is_plain(name[i]))
			return false;
	return len < NETWORK_NAME_SIZE;
}

bool network_frame_read(const uint8_t bytes[NETWORK_FRAME_SIZE], struct network_frame *ret_frame)
{
	struct wire_frame wire;

	memcpy(&wire, bytes, sizeof(wire));
	struct network_frame frame = {
		.length = be32toh(wire.length),
		.received = (int64_t) be64toh(wire.received),
		.sent = (int64_t) be64toh(wire.sent),
	};

	memcpy(frame.name, wire.name, sizeof(frame.name));
	if (memcmp(wire.magic, magic, sizeof(magic)) != 0 || frame.length > NETWORK_LENGTH_LIMIT ||
	    frame.received < 0 || frame.sent < 0 || !is_name(frame.name))
		return false;
	*ret_frame = frame;
	return true;
}

static int64_t nanoseconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t network_wall_clock(void)
{
	return nanoseconds_of(CLOCK_REALTIME);
}

int64_t network_steady_clock(void)
{
	return nanoseconds_of(CLOCK_MONOTONIC);
}

int network_wait(int fd, short events, msec until)
{
	struct pollfd ready = {.fd = fd, .events = events};

	for (;;) {
		msec left = until - loop_monotonic_now();

		if (left <= 0)
			return ETIMEDOUT;
		int n_ready = poll(&ready, 1, (int) msec_min(left, 60 * MSEC_PER_SECOND));

		if (n_ready > 0)
			return 0;
		if (n_ready < 0 && errno != EINTR)
			return errno;
	}
}

static bool is_for_later(int failure)
{
	return failure == EAGAIN || failure == EWOULDBLOCK || failure == EINTR;
}

int network_send(int fd, const void *bytes, size_t len, msec until)
{
	const char *rest = bytes;

	while (len > 0) {
		int failure = network_wait(fd, POLLOUT, until);

		if (failure)
			return failure;
		ssize_t n_sent = send(fd, rest, len, MSG_NOSIGNAL);

		if (n_sent < 0 && !is_for_later(errno))
			return errno;
		if (n_sent > 0) {
			rest += n_sent;
			len -= (size_t) n_sent;
		}
	}
	return 0;
}

int network_receive(int fd, void *bytes, size_t len, msec until, size_t *ret_len)
{
	size_t n_received = 0;
	int failure = 0;

	while (n_received < len && !failure) {
		failure = network_wait(fd, POLLIN, until);
		if (failure)
			break;
		ssize_t n_more = recv(fd, (char *) bytes + n_received, len - n_received, 0);

		if (n_more == 0)
			failure = ENODATA;
		else if (n_more > 0)
			n_received += (size_t) n_more;
		else if (!is_for_later(errno))
			failure = errno;
	}
	if (ret_len)
		*ret_len = n_received;
	return failure;
}

void network_break(int fd)
{
	const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}
