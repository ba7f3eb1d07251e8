#include "engine/log_last.h"

#include "core/limits.h"
#include "engine/log_reader.h"

#include <string.h>

static const char *keep_line(struct arena *arena, const struct log_line *line)
{
	size_t len = line->len < LIMIT_LAST_LINE_LENGTH ? line->len : LIMIT_LAST_LINE_LENGTH;
	char *text = arena_take(arena, len + 1);

	if (len > 0)
		memcpy(text, line->bytes, len);
	return text;
}

int log_last_lines(const char *folder, const char *role, int index, int attempt, size_t most,
		   struct arena *arena, const char ***ret_lines, size_t *ret_count, struct err *err)
{
	const struct log_selection selection = {
		.role = role,
		.index = index,
		.attempt = attempt,
		.tail = (int64_t) most,
		.since = MSEC_UNSET,
	};
	const char **lines = arena_take_array(arena, most, sizeof(*lines));
	struct log_reader *reader;
	struct log_line line;
	size_t count = 0;
	int rc = log_reader_new(folder, &selection, &reader, err);

	if (rc < 0)
		return rc;
	log_reader_look_again(reader);
	log_reader_end(reader);
	while (count < most && log_reader_next(reader, &line)) {
		if (!line.is_continuation)
			lines[count++] = keep_line(arena, &line);
	}
	log_reader_free(reader);
	*ret_lines = lines;
	*ret_count = count;
	return 0;
}
