/* Unpacks a tar stream (archive/archive.h) in a process of its own, because libarchive waits for
 * its bytes, and a loop may not. The bytes come from the loop as they come. */
#pragma once

#include "archive/archive.h"
#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define UNPACKER_ROOM ((size_t) 1024 * 1024) /* of bytes that wait to be unpacked */

struct unpacker;

struct unpacker_settings {
	struct loop *loop;
	const char *folder; /* which is there */
	struct archive_limits limits;
	void (*on_room)(void *data); /* there is room again */
	/* The last call, once, of which nothing is left afterwards. `err` is NULL when the stream
	 * was unpacked, but for what was left out; else as of archive_unpack. */
	void (*on_end)(const struct archive_left_out *left_out, const struct err *err, void *data);
	void *data;
};

/* Forks: best before there are threads, those of a name service among them. */
int unpacker_new(const struct unpacker_settings *settings, struct unpacker **ret_unpacker,
		 struct err *err) MUST_USE;
/* Ends it where it stands, without a callback; not from `on_end`. NULL is fine. */
void unpacker_cancel(struct unpacker *unpacker);

/* Takes the bytes always; a caller that has many waits for room. */
void unpacker_take(struct unpacker *unpacker, const char *bytes, size_t len);
bool unpacker_has_room(const struct unpacker *unpacker);
/* The stream is whole: nothing follows. */
void unpacker_end_input(struct unpacker *unpacker);
