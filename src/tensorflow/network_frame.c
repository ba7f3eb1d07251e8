#include "tensorflow/network_frame.h"

#include "base/text.h"

#include <endian.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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
