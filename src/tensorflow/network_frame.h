/* The messages of the network probe, as they travel.
 *
 * The asker sends a frame, then as many bytes as `length` says; the answerer takes all of it and
 * sends a frame back, with the times of its own clock. Nothing else is ever sent. Each side says
 * its name, so that an address that leads to another task is noticed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NETWORK_LENGTH_LIMIT (4 * 1024 * 1024) /* bytes behind one frame */

/* Numbers stand in the network's order. */
struct network_frame {
	char magic[8];
	char name[64]; /* of the task that sends it; a longer one is cut */
	uint64_t length; /* bytes behind it */
	uint64_t received, sent; /* of an answer: network_wall_clock there */
};

/* What is no printable character of ASCII in a name becomes '?'. */
void network_frame_init(struct network_frame *frame, const char *name, uint64_t length);
/* False when this came from something else: a length beyond the limit, a name that cannot be
 * printed. */
bool network_frame_is_ours(const struct network_frame *frame);
bool network_frame_has_name(const struct network_frame *frame, const char *name);

/* Nanoseconds since 1970. */
uint64_t network_wall_clock(void);

/* Closes a connection by force: what was not sent is dropped, the other side hears of it at once,
 * and nothing is left on the port (TIME_WAIT). */
void network_break(int fd);
