/* Which lines of a log came so far: just enough to find the place after the last of them when the
 * log is sent again from some second on. Pure.
 *
 * A stamp is the time at which the node read a line. Two lines may share a stamp. Stamps go back a
 * little where a container's two outputs meet, and far if the node's clock was set. So a place is
 * identified by a stamp, the number of lines with that stamp, and a hash over them. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_STAMP_SIZE 35 /* "2026-01-02T03:04:05.123456789+01:00" */

/* What a kubelet puts before each line of a log, RFC 3339 with nanoseconds (timeFormatOut in
 * k8s.io/cri-client/pkg/logs): nanoseconds since 1970, above 0; LOG_STAMP_NONE if a line has no
 * stamp. */
typedef int64_t log_stamp;
#define LOG_STAMP_NONE ((log_stamp) 0)

/* Returns LOG_STAMP_NONE if the bytes are no stamp or are outside 1970 to 2262. */
log_stamp log_stamp_read(const char *bytes, size_t len) MUST_USE;
/* Milliseconds; MSEC_UNSET for LOG_STAMP_NONE. */
msec log_stamp_time(log_stamp stamp);
/* Appends the stamp's second minus `seconds`, in the format of `sinceTime`. */
void log_stamp_add_second(struct text *text, log_stamp stamp, int seconds);

#define LOG_SEEN_RUNS 8 /* most other stamps between two lines of the same stamp */

/* The lines that share one stamp. */
struct log_run {
	log_stamp stamp;
	uint64_t hash;
	uint32_t count; /* 0: unused */
};

/* Zero it to begin. */
struct log_seen {
	struct log_run runs[LOG_SEEN_RUNS]; /* the newest stamps */
	unsigned last; /* index of the last line's run */
	unsigned newest; /* index of the run that began last */
};

/* Adds a complete line; `hash` is over its text. */
void log_seen_add(struct log_seen *seen, log_stamp stamp, uint64_t hash);
bool log_seen_is_empty(const struct log_seen *seen);
/* Whether the last lines of both are the same. */
bool log_seen_is_same_place(const struct log_seen *a, const struct log_seen *b);
/* The earliest and latest stamp of the last lines; LOG_STAMP_NONE if no line had one. */
log_stamp log_seen_earliest(const struct log_seen *seen);
log_stamp log_seen_latest(const struct log_seen *seen);
