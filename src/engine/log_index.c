#include "engine/log_index.h"

#include "io/file.h"

#include <endian.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int log_index_add(int fd, const struct log_record *record)
{
	uint64_t words[2] = {htole64((uint64_t) record->offset), htole64((uint64_t) record->time)};
	size_t written;
	int failure = file_write_all(fd, words, sizeof(words), &written);

	if (failure && written > 0 && ftruncate(fd, log_index_count(fd) * LOG_RECORD_SIZE) != 0)
		return failure; /* readers pass over half a record at the end */
	return failure;
}

bool log_index_read(int fd, int64_t position, struct log_record *ret_record)
{
	uint64_t words[2];

	if (file_read_at(fd, words, sizeof(words), position * LOG_RECORD_SIZE) != sizeof(words))
		return false;
	ret_record->offset = (int64_t) le64toh(words[0]);
	ret_record->time = (msec) le64toh(words[1]);
	return true;
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

int64_t log_index_find_offset(int fd, int64_t offset)
{
	return find_last_not_after(fd, offset, is_after_offset);
}
