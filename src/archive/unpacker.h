/* Unpacks a tar stream (archive/archive.h) in a separate process, because libarchive blocks, which
 * a loop may not. The loop passes the bytes on as they arrive. */
#pragma once

#include "archive/archive.h"
#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"

#define UNPACKER_ROOM ((size_t) 1024 * 1024) /* bytes that may wait to be unpacked */

struct unpacker;

struct unpacker_settings {
	struct loop *loop;
	const char *folder; /* must exist */
	struct archive_limits limits;
	void (*on_room)(void *data); /* there is room again */
	/* The last callback, called once; afterward nothing of the unpacker is left. `err` is NULL
	 * if the stream was unpacked, except for what was omitted; else it is as in
	 * archive_unpack. */
	void (*on_end)(const struct archive_left_out *left_out, const struct err *err, void *data);
	void *data;
};

/* Forks: best before threads exist, including those of a name service. */
int unpacker_new(const struct unpacker_settings *settings, struct unpacker **ret_unpacker,
		 struct err *err) MUST_USE;
/* Stops it immediately, without a callback. Do not call it from `on_end`. NULL is fine. */
void unpacker_cancel(struct unpacker *unpacker);

/* Always accepts the bytes; a caller with many bytes checks for room. */
void unpacker_take(struct unpacker *unpacker, const char *bytes, size_t len);
bool unpacker_has_room(const struct unpacker *unpacker);
/* The stream is complete: no more bytes follow. */
void unpacker_end_input(struct unpacker *unpacker);
