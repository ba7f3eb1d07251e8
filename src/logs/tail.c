#include "logs/tail.h"

#include "base/line_text.h"
#include "base/mem.h"

#include <string.h>

#define WINDOW_SIZE 65536

/* A part of the log in memory. */
struct window {
	struct log_attempt *attempt;
	int64_t begin; /* offset of its first byte */
	size_t len;
	char bytes[WINDOW_SIZE];
};

/* Loads the part that ends at `end`, but nothing below `floor`. */
static void load_before(struct window *window, int64_t floor, int64_t end)
{
	int64_t begin = end - WINDOW_SIZE > floor ? end - WINDOW_SIZE : floor;
	size_t wanted = (size_t) (end - begin);

	window->begin = begin;
	window->len = 0;
	while (window->len < wanted) {
		int64_t offset = begin + (int64_t) window->len;
		size_t got = log_attempt_read(window->attempt, &offset, window->bytes + window->len,
					      wanted - window->len);

		if (got == 0 || offset != begin + (int64_t) window->len)
			break;
		window->len += got;
	}
}

/* Offset after the last line feed below `end`; `floor` if there is none. */
static int64_t find_line_begin(struct window *window, int64_t floor, int64_t end)
{
	while (end > floor) {
		if (end <= window->begin || end > window->begin + (int64_t) window->len)
			load_before(window, floor, end);
		if (window->len == 0)
			break;
		int64_t here = end - window->begin;
		const char *found =
			memrchr(window->bytes, '\n',
				here < (int64_t) window->len ? (size_t) here : window->len);

		if (found)
			return window->begin + (found - window->bytes) + 1;
		end = window->begin;
	}
	return floor;
}

/* Whether the searched part of a line's text contains the pattern. */
static bool line_matches(struct log_attempt *attempt, const struct log_pattern *pattern,
			 int64_t begin, int64_t end, char *text, size_t most)
{
	size_t len = 0;

	if (!pattern)
		return true;
	if (end - begin < (int64_t) most)
		most = (size_t) (end - begin);
	while (len < most) {
		int64_t offset = begin + (int64_t) len;
		size_t got = log_attempt_read(attempt, &offset, text + len, most - len);

		if (got == 0)
			break;
		len += got;
	}
	const char *state = line_text_last_state(text, &len);

	return log_pattern_matches(pattern, state, len);
}

/* The end of the last line: its line feed, or the log's end if it has none. */
static int64_t last_line_end(struct window *window, int64_t floor)
{
	int64_t end = log_attempt_end(window->attempt);

	return end > floor && find_line_begin(window, floor, end) == end ? end - 1 : end;
}

int64_t log_tail_find(struct log_attempt *attempt, int64_t floor, const struct log_pattern *pattern,
		      size_t line_limit, int64_t *n_lines)
{
	struct window *window CLEANUP(mem_free_any) = mem_new(sizeof(*window));
	char *text CLEANUP(mem_free_text) = mem_new(line_limit);
	int64_t begin = log_attempt_end(attempt);

	window->attempt = attempt;
	if (*n_lines == 0 || begin <= floor)
		return begin;
	int64_t end = last_line_end(window, floor);

	for (;;) {
		int64_t line = find_line_begin(window, floor, end);

		if (line_matches(attempt, pattern, line, end, text, line_limit)) {
			begin = line;
			(*n_lines)--;
		}
		if (*n_lines == 0 || line <= floor)
			return begin;
		end = line - 1;
	}
}

int64_t log_tail_line_begin(struct log_attempt *attempt, int64_t floor, int64_t offset)
{
	struct window *window CLEANUP(mem_free_any) = mem_new(sizeof(*window));

	window->attempt = attempt;
	return find_line_begin(window, floor, offset);
}
