/* The messages of the network probe on the wire.
 *
 * The asker sends a frame, then `length` bytes. The answerer reads all of it and sends a frame
 * back, with times of its own clock. Nothing else is ever sent. Each side sends its name, so that
 * an address that leads to another task is noticed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NETWORK_LENGTH_LIMIT (4 * 1024 * 1024) /* bytes after one frame */

/* Numbers are in network byte order. */
struct network_frame {
	char magic[8];
	char name[64]; /* of the sending task; longer names are cut */
	uint64_t length; /* bytes that follow */
	uint64_t received, sent; /* in an answer: network_wall_clock of the answerer */
};

/* Characters of the name other than printable ASCII become '?'. */
void network_frame_init(struct network_frame *frame, const char *name, uint64_t length);
/* Returns false if another program sent this: a length above the limit, an unprintable name. */
bool network_frame_is_ours(const struct network_frame *frame);
bool network_frame_has_name(const struct network_frame *frame, const char *name);

/* Nanoseconds since 1970. */
uint64_t network_wall_clock(void);

/* Resets a connection: unsent bytes are dropped, the other side notices immediately, and nothing is
 * left on the port (TIME_WAIT). */
void network_break(int fd);
