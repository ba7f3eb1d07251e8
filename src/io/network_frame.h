/* The messages of the network probe, and how their bytes are sent and received within a time.
 *
 * The asker sends a frame, then as many bytes as `length` says; the answerer takes all of it and
 * sends a frame back, with the times of its own clock. Nothing else is ever sent. Each side says
 * its name, so that an address that leads to another task is noticed. */
#pragma once

#include "base/msec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETWORK_FRAME_SIZE 96
#define NETWORK_NAME_SIZE 64 /* a longer name is cut; a NUL is part of it */
#define NETWORK_LENGTH_LIMIT (4 * 1024 * 1024) /* bytes behind one frame */

struct network_frame {
	char name[NETWORK_NAME_SIZE]; /* of the task that sends it */
	uint32_t length; /* bytes behind it; what was taken, in an answer */
	int64_t received,
		sent; /* nanoseconds since 1970, as the answerer's clock has it; not < 0 */
};

/* What is no printable character of ASCII becomes '?'. */
void network_frame_set_name(struct network_frame *frame, const char *name);
bool network_frame_has_name(const struct network_frame *frame, const char *name);

void network_frame_write(const struct network_frame *frame, uint8_t bytes[NETWORK_FRAME_SIZE]);
/* False when these bytes are no frame of ours: a length beyond the limit, times before 1970, a name
 * that cannot be printed. */
bool network_frame_read(const uint8_t bytes[NETWORK_FRAME_SIZE], struct network_frame *ret_frame);

/* Nanoseconds of the wall clock, and of the one that never jumps. */
int64_t network_wall_clock(void);
int64_t network_steady_clock(void);

/* Waits until poll(2) reports one of `events`, or an error, or the moment of loop_monotonic_now has
 * come. 0 or errno: ETIMEDOUT. */
int network_wait(int fd, short events, msec until);
/* Over a non-blocking socket, until a moment of loop_monotonic_now. 0 or errno: ETIMEDOUT when the
 * time is over, ENODATA when the other side has closed. *ret_len (may be NULL) is how much was
 * received in either case. */
int network_send(int fd, const void *bytes, size_t len, msec until);
int network_receive(int fd, void *bytes, size_t len, msec until, size_t *ret_len);
/* Closes a connection by force: what was not sent is dropped, the other side hears of it at once,
 * and nothing is left on the port (TIME_WAIT). */
void network_break(int fd);
