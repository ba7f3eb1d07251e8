/* Whole lines out of the log of one attempt, from an offset to its end and on as it grows.
 *
 * A line ends with a line feed; a carriage return before it belongs to the end. What a progress bar
 * overwrote is left out: of a line with carriage returns only what stood there last is given. A
 * line longer than the limit is given in pieces, so memory stays small whatever a program prints.
 */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "logs/attempt.h"
#include "logs/name.h"
#include "logs/unsaved_output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_line {
	const struct log_name *name; /* whose line it is; set by log_reader */
	const char *bytes; /* without its end; until the next call for the same stream */
	size_t len;
	msec time; /* when its last byte came; MSEC_UNSET where that is not known */
	bool is_continuation; /* a further piece of the line before */
	bool is_first; /* of an attempt that took another one's place; set by log_reader */
	/* Of a line whose end has not come so far: */
	bool is_bar; /* parts of it were overwritten */
	bool is_quiet; /* nothing was added since it was looked at last */
};

struct log_stream;

/* Reads `take_attempt` from `offset` on. `line_limit`: length of a piece, usually LIMIT_LOG_LINE.
 */
struct log_stream *log_stream_new(struct log_attempt *take_attempt, int64_t offset,
				  size_t line_limit) MUST_USE;
void log_stream_free(struct log_stream *stream); /* NULL is fine */
/* Reads behind the end of the file what it could not take, too. `unkept` is
 * borrowed. */
void log_stream_add_unsaved_output(struct log_stream *stream,
				   const struct unsaved_output *unsaved_output,
				   const struct log_name *name);

/* The next whole line (or piece); false when there is none for now. */
bool log_stream_next(struct log_stream *stream, struct log_line *ret_line);
/* What stands behind the last line feed, as it looks now; false where nothing does. The first one
 * leaves it where it is; the second one takes it for a line, because no more will come. */
bool log_stream_poll_open(struct log_stream *stream, struct log_line *ret_line);
bool log_stream_take_open(struct log_stream *stream, struct log_line *ret_line);

/* Nothing will come any more: the writer closed the log, and all of it was read. */
bool log_stream_is_complete(const struct log_stream *stream);
/* When the newest bytes of the log came, whether they were read or not. */
msec log_stream_last_time(const struct log_stream *stream);
