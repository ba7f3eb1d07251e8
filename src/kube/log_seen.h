/* Which lines of a log came so far: as much of it as is needed to find, in a log that is sent again
 * from some second on, the place behind the last of them. Pure.
 *
 * Stamps are the times at which a node read the lines. Those of two lines may be equal, and go back
 * a little where a container's two outputs meet, or far where the node's clock was set. So a place
 * is known by a stamp, by how many lines with that stamp came, and by a hash over them. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_STAMP_SIZE 35 /* "2026-01-02T03:04:05.123456789+01:00" */

/* What a kubelet puts before each line of a log, RFC 3339 with nanoseconds (timeFormatOut in
 * k8s.io/cri-client/pkg/logs): nanoseconds since 1970, above 0; LOG_STAMP_NONE of a line without a
 * stamp. */
typedef int64_t log_stamp;
#define LOG_STAMP_NONE ((log_stamp) 0)

/* LOG_STAMP_NONE where the bytes are no stamp, or one outside 1970 to 2262. */
log_stamp log_stamp_read(const char *bytes, size_t len) MUST_USE;
/* Milliseconds; MSEC_UNSET of none. */
msec log_stamp_time(log_stamp stamp);
/* The second that it lies in, less `seconds`, as `sinceTime` has it. */
void log_stamp_add_second(struct text *text, log_stamp stamp, int seconds);

#define LOG_SEEN_RUNS 8 /* stamps between two lines of one stamp, at most */

/* The lines that have one stamp. */
struct log_run {
	log_stamp stamp;
	uint64_t hash;
	uint32_t count; /* 0: there is no such run */
};

/* Zero it to begin. */
struct log_seen {
	struct log_run runs[LOG_SEEN_RUNS]; /* the newest stamps */
	unsigned last; /* the run of the last line */
	unsigned newest; /* the run that was started last */
};

/* A line was complete; `hash` is over its text. */
void log_seen_add(struct log_seen *seen, log_stamp stamp, uint64_t hash);
bool log_seen_is_empty(const struct log_seen *seen);
/* The last lines of both are the same. */
bool log_seen_is_same_place(const struct log_seen *a, const struct log_seen *b);
/* The earliest and the latest stamp of the last lines; LOG_STAMP_NONE where none had one. */
log_stamp log_seen_earliest(const struct log_seen *seen);
log_stamp log_seen_latest(const struct log_seen *seen);
