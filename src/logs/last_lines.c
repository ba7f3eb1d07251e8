#include "logs/last_lines.h"

#include "logs/reader.h"
#include "spec/limits.h"

#include <string.h>

static const char *copy_clipped_line(struct arena *arena, const struct log_line *line)
{
	size_t len = line->len < LIMIT_LAST_LINE_LENGTH ? line->len : LIMIT_LAST_LINE_LENGTH;
	char *text = arena_take(arena, len + 1);

	if (len > 0)
		memcpy(text, line->bytes, len);
	return text;
}

int log_last_lines(const char *folder, const char *role, int index, int attempt, size_t most,
		   struct arena *arena, struct printed *ret_printed, struct err *err)
{
	const size_t room = 2 * most; /* each of the two streams may have that many */
	const struct log_selection selection = {
		.role = role,
		.index = index,
		.attempt = attempt,
		.tail = (int64_t) most,
		.since = MSEC_UNSET,
	};
	struct printed printed = {
		.lines = arena_take_array(arena, room, sizeof(*printed.lines)),
		.times = arena_take_array(arena, room, sizeof(*printed.times)),
	};
	struct log_reader *reader;
	struct log_line line;
	int rc = log_reader_new(folder, &selection, &reader, err);

	if (rc < 0)
		return rc;
	log_reader_poll(reader);
	log_reader_end(reader);
	while (printed.count < room && log_reader_next(reader, &line)) {
		if (line.is_continuation)
			continue;
		printed.times[printed.count] = line.time;
		printed.lines[printed.count++] = copy_clipped_line(arena, &line);
	}
	log_reader_free(reader);
	if (printed.count > most) {
		printed.lines += printed.count - most;
		printed.times += printed.count - most;
		printed.count = most;
	}
	*ret_printed = printed;
	return 0;
}
