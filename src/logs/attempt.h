/* The stored output of one attempt of a replica, read by offset while it may still grow. Follows
 * rotation, and knows the time of each byte. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* When the byte at `offset` was written; *ret_until as in log_cursor_time. Cheap when offsets
 * increase. */
msec log_attempt_time(struct log_attempt *attempt, int64_t offset, int64_t *ret_until);
/* When its newest bytes were written, within a few milliseconds; MSEC_UNSET before the first. */
msec log_attempt_last_time(const struct log_attempt *attempt);
/* Offset of the first byte written at `since` or later (as precisely as the index knows). */
int64_t log_attempt_find_time(const struct log_attempt *attempt, msec since);

/* The writer closed the log, and nothing follows `offset`. */
bool log_attempt_is_complete(const struct log_attempt *attempt, int64_t offset);
