/* Growing text, and the only place that parses numbers, durations and times. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

#include <string.h>

/* A growing text. Zero it to begin (`struct text text CLEANUP(text_done) = {0}`); bytes are
 * followed by a NUL once anything was added. */
struct text {
	char *bytes;
	size_t len;
	size_t capacity;
};

/* A position in a text. Line and column (in characters) count from 1; 0: unknown. */
struct place {
	int line;
	int column;
};

void text_done(struct text *text);
/* Keeps the first `len` bytes, which must exist, and the memory. */
void text_shorten(struct text *text, size_t len);
void text_clear(struct text *text); /* keeps the memory */
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *bytes, size_t len);
void text_add_char(struct text *text, char byte);
void text_addf(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends a line unless it is already in the text: a fault of several roles is reported once. */
void text_add_line_once(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);
/* Removes the first `len` bytes, which must exist. */
void text_remove_beginning(struct text *text, size_t len);
/* The collected text ("" if nothing was added), which the caller frees; `text` is empty then. */
char *text_take(struct text *text) MUST_USE;
/* The present text, never NULL. */
const char *text_of(const struct text *text);

bool text_equals(const char *a, const char *b); /* NULL equals only NULL */
/* Replaces `*kept` by a copy of `text`; both may be NULL. Returns false if they were equal. */
bool text_keep(char **kept, const char *text);
bool text_equals_ignoring_case(const char *a, const char *b);
bool text_starts_with(const char *text, const char *beginning);
bool text_ends_with(const char *text, const char *ending);

/* Length of the UTF-8 character (RFC 3629) at the beginning of `bytes`, 1 to 4; 0: invalid. */
size_t text_utf8_length(const char *bytes, size_t len);
bool text_is_utf8(const char *bytes, size_t len);
/* Whether all are visible characters of ASCII, which are safe on a terminal; a space is not. */
bool text_is_graphic(const char *bytes, size_t len);
/* Characters of a UTF-8 text: every byte that does not continue one. */
size_t text_count_characters(const char *bytes, size_t len);
/* Appends the bytes, with U+FFFD for each byte that belongs to no UTF-8 character. */
void text_add_as_utf8(struct text *text, const char *bytes, size_t len);

/* Reads a whole decimal number in low..high, with an optional sign and no text after it. Returns
 * ERR_INVALID with the text and the range. */
int text_read_int(const char *text, int64_t low, int64_t high, int64_t *ret_number,
		  struct err *err) MUST_USE;

/* Length of the number without a sign at the beginning: "1", "1.5", ".5", "1."; 0: none. */
size_t text_number_length(const char *text);
/* Reads a whole finite number as in JSON, leniently (".5", "+1.", "1e3"). */
int text_read_real(const char *text, double *ret_number, struct err *err) MUST_USE;
/* Appends the shortest digits that read back as the same number, with a '.' or an exponent. */
void text_add_real(struct text *text, double number);

/* Reads a duration: "30s", "10m", "1h30m", "250ms", "2d", "0"; up to 100 years. A plain number is
 * rejected, because some users mean seconds and others minutes. */
int text_read_duration(const char *text, msec *ret_duration, struct err *err) MUST_USE;

/* Appends "850ms", "12s", "4m10s", "3h2m", "5d": at most two units, as kubectl's ages. A negative
 * duration is "0s". */
void text_add_duration(struct text *text, msec duration);

/* RFC 3339 in UTC, with milliseconds only if they are not zero: 2026-01-02T03:04:05[.678]Z. */
void text_add_time(struct text *text, msec time);
/* The same in a time zone `offset` minutes ahead of UTC: 2026-01-02T04:04:05+01:00. */
void text_add_time_ahead(struct text *text, msec time, int offset);
/* The same, always with milliseconds, for the times of output lines:
 * 2026-01-02T04:04:05.000+01:00. */
void text_add_line_time(struct text *text, msec time, int offset);
int text_read_time(const char *text, msec *ret_time, struct err *err) MUST_USE;

/* A count of bytes for users: "34 bytes", "1.5 kB", "2.0 GB". Caller frees. */
char *amount_of_bytes(uint64_t bytes) MUST_USE;
