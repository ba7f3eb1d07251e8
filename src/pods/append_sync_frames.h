/* The bytes that pods/append_sync's script sends, as pieces of files, however the bytes are cut.
 * Pure.
 *
 * A round is pieces, each a line "OFFSET LENGTH ./PATH" and that many bytes, and then the line "."
 * (the folder was there) or "missing". */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came of the line or piece that is not complete yet. Zero it to begin. */
struct append_sync_frames {
	struct text line;
	uint64_t n_missing; /* bytes of the piece that has started */
};

/* What takes the pieces. A function that gives an error has set `err`, and nothing more is called.
 */
struct append_sync_reader {
	/* The next `len` bytes belong to this file at this offset; 0: it is new, or has started
	 * anew. The path is relative and leads nowhere outside. */
	int (*on_piece)(const char *path, uint64_t offset, uint64_t len, void *data,
			struct err *err);
	int (*on_bytes)(const char *bytes, size_t len, void *data, struct err *err);
	/* The last call of a round, behind which nothing is expected to follow. */
	void (*on_round)(bool is_there, void *data);
	void *data;
};

/* ERR_INVALID: a line is none of these; ERR_REFUSED: a path that leads outside; else what the
 * reader gave. The stream cannot be read further then. */
int append_sync_frames_read(struct append_sync_frames *frames, const char *bytes, size_t len,
			    const struct append_sync_reader *reader, struct err *err) MUST_USE;
void append_sync_frames_done(struct append_sync_frames *frames);
