/* Parses the bytes of pods/append_sync's script into pieces of files, however the bytes are cut.
 * Pure.
 *
 * A round is pieces, each a line "OFFSET LENGTH ./PATH" and that many bytes, and then the line "."
 * (the directory exists) or "missing". */
#pragma once

#include "base/text.h"

/* The incomplete line or piece. Zero it to begin. */
struct append_sync_frames {
	struct text line;
	uint64_t n_missing; /* bytes of the piece that has started */
};

/* Receives the pieces. After a function has returned an error, with `err`, no other is called. */
struct append_sync_reader {
	/* The next `len` bytes belong to this file at this offset; 0: it is new, or starts again.
	 * The path is relative and never leads outside. */
	int (*on_piece)(const char *path, uint64_t offset, uint64_t len, void *data,
			struct err *err);
	int (*on_bytes)(const char *bytes, size_t len, void *data, struct err *err);
	/* The last call of a round; nothing may follow the round's last line. */
	void (*on_round)(bool is_there, void *data);
	void *data;
};

/* ERR_INVALID: an invalid line; ERR_REFUSED: a path that leads outside; else the reader's error.
 * Then the stream cannot be read further. */
int append_sync_frames_read(struct append_sync_frames *frames, const char *bytes, size_t len,
			    const struct append_sync_reader *reader, struct err *err) MUST_USE;
void append_sync_frames_done(struct append_sync_frames *frames);
