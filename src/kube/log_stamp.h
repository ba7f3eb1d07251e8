/* The stamp that a kubelet puts before each line of a log: RFC 3339 with nanoseconds. Pure.
 * Source: k8s.io/cri-client/pkg/logs (timeFormatOut). */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_STAMP_SIZE 35 /* "2026-01-02T03:04:05.123456789+01:00" */

/* Nanoseconds since 1970, above 0; LOG_STAMP_NONE of a line without a stamp. */
typedef int64_t log_stamp;
#define LOG_STAMP_NONE ((log_stamp) 0)

/* LOG_STAMP_NONE where the bytes are no stamp, or one outside 1970 to 2262. */
log_stamp log_stamp_read(const char *bytes, size_t len) MUST_USE;
/* Milliseconds; MSEC_UNSET of none. */
msec log_stamp_time(log_stamp stamp);
/* The second that it lies in, less `seconds`, as `sinceTime` has it. */
void log_stamp_add_second(struct text *text, log_stamp stamp, int seconds);
