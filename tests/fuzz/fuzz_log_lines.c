/* Any bytes as a Pod's log: however they are cut, the same text comes of them; and where it is a
 * log whose stamps never go back, a stream that breaks off and is sent again gives each byte once.
 */
#include "fuzz.h"

#include "base/text.h"
#include "kube/container_log.h"

#include <stdlib.h>
#include <string.h>

static void add_text(const char *bytes, size_t len, msec time, void *data)
{
	(void) time;
	text_add_bytes(data, bytes, len);
}

static void take_in_pieces(struct log_lines *lines, const char *bytes, size_t len, size_t size,
			   struct text *text)
{
	for (size_t i = 0; i < len; i += size)
		log_lines_take(lines, bytes + i, len - i < size ? len - i : size, add_text, text);
}

/* Whole lines with stamps, each at least as late as the one before it. */
static bool is_in_order(const char *bytes, size_t len)
{
	log_stamp last = LOG_STAMP_NONE;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(bytes + at, '\n', len - at);
		const char *space = end ? memchr(bytes + at, ' ', len - at) : NULL;
		log_stamp stamp = LOG_STAMP_NONE;

		if (space && space < end)
			stamp = log_stamp_read(bytes + at, (size_t) (space - bytes) - at);
		if (stamp == LOG_STAMP_NONE || stamp < last)
			return false;
		last = stamp;
		at = (size_t) (end - bytes) + 1;
	}
	return true;
}

static void check_cuts(const char *bytes, size_t len, const struct text *whole)
{
	static const size_t sizes[] = {1, 3, 7, 64};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct log_lines lines = {0};
		struct text text CLEANUP(text_done) = {0};

		log_lines_begin(&lines, false);
		take_in_pieces(&lines, bytes, len, sizes[i], &text);
		log_lines_take_words(&lines, &text);
		log_lines_end(&lines, add_text, &text);
		if (!text_equals(text_of(&text), text_of(whole)) || text.len != whole->len)
			abort();
	}
}

/* Breaks off twice, the second time while what is known comes again. */
static void check_breaks(const char *bytes, size_t len, const struct text *whole)
{
	for (size_t end = 0; end <= len; end += 1 + len / 50) {
		struct log_lines lines = {0};
		struct text text CLEANUP(text_done) = {0};
		msec from, to;

		log_lines_begin(&lines, false);
		take_in_pieces(&lines, bytes, end, end + 1, &text);
		log_lines_begin(&lines, false);
		take_in_pieces(&lines, bytes, end / 2, 5, &text);
		log_lines_begin(&lines, false);
		take_in_pieces(&lines, bytes, len, 11, &text);
		log_lines_take_words(&lines, &text);
		log_lines_end(&lines, add_text, &text);
		if (!text_equals(text_of(&text), text_of(whole)) || text.len != whole->len ||
		    lines.is_catching_up || log_lines_take_gap(&lines, &from, &to))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *bytes = (const char *) data;
	struct text whole CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take_in_pieces(&lines, bytes, len, len + 1, &whole);
	log_lines_take_words(&lines, &whole);
	log_lines_end(&lines, add_text, &whole);
	check_cuts(bytes, len, &whole);
	if (is_in_order(bytes, len))
		check_breaks(bytes, len, &whole);
	return 0;
}
