/* Reads complete lines from the log of one attempt, from an offset to its end and on as it grows.
 *
 * A line ends with a line feed; a carriage return before it belongs to the end. Text that a
 * progress bar overwrote is omitted: of a line with carriage returns, only the text after the last
 * one is given, and of rows that are drawn again and again (logs/drawing.h) the last state. A line
 * longer than the limit is given in pieces, so memory stays small whatever a program prints. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "logs/folder.h"
#include "logs/line.h"
#include "logs/unsaved_output.h"

/* The stored output of one attempt of a replica, read by offset while it may still grow. Follows
 * rotation, and knows the time of each byte. */
struct log_attempt;

/* ERR_NOT_FOUND if the attempt has no log. */
int log_attempt_open(const char *folder, const struct log_name *name,
		     struct log_attempt **ret_attempt, struct err *err) MUST_USE;
void log_attempt_close(struct log_attempt *attempt); /* NULL is fine */

/* Offset of the oldest byte that was not rotated away, and the offset after the newest one. */
int64_t log_attempt_begin(const struct log_attempt *attempt);
int64_t log_attempt_end(const struct log_attempt *attempt);

/* Reads at most `len` bytes; 0 when there are no more for now. If the bytes at *offset were rotated
 * away, *offset advances to the next existing one. */
size_t log_attempt_read(struct log_attempt *attempt, int64_t *offset, char *bytes, size_t len);

/* Offset of the first byte written at `since` or later (as precisely as the index knows). */
int64_t log_attempt_find_time(const struct log_attempt *attempt, msec since);

struct log_stream;

/* Reads `take_attempt` from `offset` on, and after the end of the file the output that it could not
 * take (borrowed; NULL: only the file). `line_limit`: length of a piece, usually LIMIT_LOG_LINE. */
struct log_stream *log_stream_new(struct log_attempt *take_attempt, int64_t offset,
				  size_t line_limit, const struct unsaved_output *unsaved_output,
				  const struct log_name *name) MUST_USE;
void log_stream_free(struct log_stream *stream); /* NULL is fine */

/* The next complete line (or piece); false when there is none for now. */
bool log_stream_next(struct log_stream *stream, struct log_line *ret_line);
/* The text after the last line feed, as it is now, or the rows of a drawing with line feeds between
 * them; false if there is none. The first function leaves it unread; the second one takes it, or
 * the oldest row, as a line, because no more will follow. */
bool log_stream_poll_open(struct log_stream *stream, struct log_line *ret_line);
bool log_stream_take_open(struct log_stream *stream, struct log_line *ret_line);

/* Nothing more will follow: the writer closed the log, and all of it was read. */
bool log_stream_is_complete(const struct log_stream *stream);
/* When the newest bytes of the log were written, within a few milliseconds, whether they were read
 * or not. */
msec log_stream_last_time(const struct log_stream *stream);
