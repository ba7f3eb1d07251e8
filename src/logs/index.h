/* The index of a log file: the times of its bytes. With times, the logs of replicas can be merged
 * and `--since` can be answered, while the log itself keeps every byte as it was written.
 *
 * A record says "from this offset on, the bytes were written at this time or later". Offsets count
 * the whole output of the attempt, over rotations; the first record of a file gives the offset
 * where it begins. A record is written before its bytes, so a reader that sees a byte can find its
 * time. Within an attempt neither offsets nor times decrease. */
#pragma once

#include "base/msec.h"

#include <stdbool.h>
#include <stddef.h>

struct log_record {
	int64_t offset;
	msec time; /* LOG_TIME_CLOSED: the attempt's output ended at this offset */
};

#define LOG_TIME_CLOSED ((msec) -1)
#define LOG_CURSOR_RECORDS 64
#define LOG_RECORD_SIZE 16 /* of a record in the file: two numbers, little-endian */

/* Appends one record; 0 or errno. An incomplete record is removed again. */
int log_index_add(int fd, const struct log_record *record);

/* Reads record `position` (from 0) of an index file; false when there is none (yet). */
bool log_index_read(int fd, int64_t position, struct log_record *ret_record);
/* The number of complete records in the file. */
int64_t log_index_count(int fd);

/* Position of the last record whose time is at most `time`; -1 when all are later. A binary
 * search. */
int64_t log_index_find_time(int fd, msec time);

/* Reads an index file sequentially, a few dozen records at a time. */
struct log_cursor {
	int fd; /* borrowed */
	int64_t position; /* of the first record after those in `records` */
	struct log_record records[LOG_CURSOR_RECORDS];
	size_t count;
	size_t at; /* the record of the last requested offset */
};

/* Starts at the record for `offset`. */
void log_cursor_begin(struct log_cursor *cursor, int fd, int64_t offset);
/* When the byte at `offset` was written; `offset` must not decrease. MSEC_UNSET if no record tells.
 * *ret_until: bytes below this offset have the same time, as far as known. */
msec log_cursor_time(struct log_cursor *cursor, int64_t offset, int64_t *ret_until);
