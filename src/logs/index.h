/* The index beside a log file: when which byte came. Times make it possible to merge the logs of
 * replicas and to answer `--since`, while the log itself keeps every byte as it was written.
 *
 * A record says "from this offset on, the bytes came at this time or later". Offsets count the
 * whole output of the attempt, over rotations; the first record of a file tells where it begins.
 * Records are written before the bytes that they speak of, so a reader that sees a byte can see its
 * time. Within an attempt neither offsets nor times go back. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_record {
	int64_t offset;
	msec time; /* LOG_TIME_CLOSED: the attempt's output ended at this offset */
};

#define LOG_TIME_CLOSED ((msec) -1)
#define LOG_CURSOR_RECORDS 64
#define LOG_RECORD_SIZE 16 /* of a record in the file: two numbers, least byte first */

/* Appends one record; 0 or errno. A record that could not be written whole is taken back. */
int log_index_add(int fd, const struct log_record *record);

/* Reads record `position` (from 0) of an index file; false when there is none (yet). */
bool log_index_read(int fd, int64_t position, struct log_record *ret_record);
/* How many whole records the file has. */
int64_t log_index_count(int fd);

/* Position of the last record whose time is at most `time`; -1 when all are later. A binary
 * search. */
int64_t log_index_find_time(int fd, msec time);

/* Goes through an index file from front to back, a few dozen records at a time. */
struct log_cursor {
	int fd; /* borrowed */
	int64_t position; /* of the first record behind those in `records` */
	struct log_record records[LOG_CURSOR_RECORDS];
	size_t count;
	size_t at; /* the record that speaks of the last offset asked for */
};

/* Begins where the file speaks of `offset`. */
void log_cursor_begin(struct log_cursor *cursor, int fd, int64_t offset);
/* When the byte at `offset` came, which is not below the last one asked for; MSEC_UNSET where no
 * record tells. *ret_until: bytes below this offset came at the same time, as far as is known. */
msec log_cursor_time(struct log_cursor *cursor, int64_t offset, int64_t *ret_until);
