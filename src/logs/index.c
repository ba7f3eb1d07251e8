#include "logs/index.h"

#include "io/file.h"

#include <assert.h>
#include <endian.h>

static_assert(sizeof(struct log_record) == LOG_RECORD_SIZE, "records are read as they lie");

int log_index_add(int fd, const struct log_record *record)
{
	const struct log_record bytes = {
		.offset = (int64_t) htole64((uint64_t) record->offset),
		.time = (msec) htole64((uint64_t) record->time),
	};
	size_t written;
	int failure = file_write_all(fd, &bytes, sizeof(bytes), &written);

	if (failure && written > 0 && ftruncate(fd, log_index_count(fd) * LOG_RECORD_SIZE) != 0)
		return failure; /* readers ignore an incomplete record at the end */
	return failure;
}

/* Reads up to `most` records; returns their number. */
static size_t read_records(int fd, int64_t position, struct log_record *records, size_t most)
{
	size_t count =
		file_read_at(fd, records, most * LOG_RECORD_SIZE, position * LOG_RECORD_SIZE) /
		LOG_RECORD_SIZE;

	for (size_t i = 0; i < count; i++) {
		records[i].offset = (int64_t) le64toh((uint64_t) records[i].offset);
		records[i].time = (msec) le64toh((uint64_t) records[i].time);
	}
	return count;
}

bool log_index_read(int fd, int64_t position, struct log_record *ret_record)
{
	return read_records(fd, position, ret_record, 1) == 1;
}

int64_t log_index_count(int fd)
{
	struct stat found;

	return fstat(fd, &found) == 0 ? found.st_size / LOG_RECORD_SIZE : 0;
}

static bool is_after_time(const struct log_record *record, int64_t time)
{
	return record->time == LOG_TIME_CLOSED || record->time > time;
}

static bool is_after_offset(const struct log_record *record, int64_t offset)
{
	return record->offset > offset;
}

/* Position of the last record that is not after `bound`, -1 when there is none. */
static int64_t find_last_not_after(int fd, int64_t bound,
				   bool (*is_after)(const struct log_record *record, int64_t bound))
{
	int64_t low = 0; /* all records below are not after the bound */
	int64_t high = log_index_count(fd); /* all from here on are after it */

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		struct log_record record;

		if (!log_index_read(fd, middle, &record) || is_after(&record, bound))
			high = middle;
		else
			low = middle + 1;
	}
	return low - 1;
}

int64_t log_index_find_time(int fd, msec time)
{
	return find_last_not_after(fd, time, is_after_time);
}

void log_cursor_begin(struct log_cursor *cursor, int fd, int64_t offset)
{
	int64_t position = find_last_not_after(fd, offset, is_after_offset);

	cursor->fd = fd;
	cursor->position = position < 0 ? 0 : position;
	cursor->count = 0;
	cursor->at = 0;
}

/* Makes sure that the record after the current one is in memory, if the file has one. */
static bool has_next(struct log_cursor *cursor)
{
	if (cursor->at + 1 < cursor->count)
		return true;
	struct log_record current = cursor->records[cursor->at];
	size_t kept = cursor->count > 0 ? 1 : 0;
	size_t got = read_records(cursor->fd, cursor->position, cursor->records + kept,
				  LOG_CURSOR_RECORDS - kept);

	if (kept)
		cursor->records[0] = current;
	cursor->position += (int64_t) got;
	cursor->count = kept + got;
	cursor->at = 0;
	return cursor->count > 1;
}

msec log_cursor_time(struct log_cursor *cursor, int64_t offset, int64_t *ret_until)
{
	bool has_one_more = has_next(cursor);

	while (has_one_more && cursor->records[cursor->at + 1].offset <= offset) {
		cursor->at++;
		has_one_more = has_next(cursor);
	}
	*ret_until = has_one_more ? cursor->records[cursor->at + 1].offset : INT64_MAX;
	return cursor->count > 0 ? cursor->records[cursor->at].time : MSEC_UNSET;
}
