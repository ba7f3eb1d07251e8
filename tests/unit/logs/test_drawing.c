#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "logs/drawing.h"

#define START ((msec) 1000000)
#define UP "\x1b[1A\x1b[2K" /* as rich writes it */
#define BEGIN "\r\x1b[2K"
#define HIDE "\x1b[?25l"
#define SHOW "\x1b[?25h"

/* What is taken while `bytes` are added, each with a line feed, then "[", what is shown, and "]".
 */
static char *seen_of(struct drawing *drawing, const char *bytes, size_t len, msec time)
{
	struct text text = {0};
	struct log_line line;

	for (size_t at = 0, added; at < len; at += added) {
		added = drawing_add(drawing, bytes + at, len - at, time);
		size_t before = text.len;

		while (drawing_take(drawing, false, &line))
			text_addf(&text, "%s%.*s\n", line.is_continuation ? "+" : "",
				  (int) line.len, line.bytes);
		if (added == 0 && text.len == before)
			break;
	}
	if (drawing_show(drawing, &line))
		text_addf(&text, "[%.*s]", (int) line.len, line.bytes);
	else
		text_add(&text, "[]");
	return text_take(&text);
}

static void assert_seen(struct drawing *drawing, const char *bytes, msec time, const char *expected)
{
	char *seen CLEANUP(mem_free_text) = seen_of(drawing, bytes, strlen(bytes), time);

	assert_string_equal(seen, expected);
}

static void assert_last(struct drawing *drawing, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_line line;

	while (drawing_take(drawing, true, &line))
		text_addf(&text, "%.*s\n", (int) line.len, line.bytes);
	assert_string_equal(text_of(&text), expected);
}

#define DRAWING_TEST(name)                                                                         \
	static void name##_with(struct drawing *drawing);                                          \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct drawing *drawing = drawing_new();                                           \
                                                                                                   \
		name##_with(drawing);                                                              \
		drawing_free(drawing);                                                             \
	}                                                                                          \
	static void name##_with(struct drawing *drawing)

DRAWING_TEST(rows_are_drawn_in_place_until_the_cursor_is_shown)
{
	assert_seen(drawing, HIDE BEGIN "one  0%\ntwo  0%", 0, "[one  0%\ntwo  0%]");
	assert_seen(drawing, BEGIN UP "one 50%\ntwo  0%", 0, "[one 50%\ntwo  0%]");
	assert_seen(drawing, BEGIN UP "one 50%\ntwo 50%\n" SHOW, 0, "one 50%\ntwo 50%\n[]");
	assert_true(drawing_is_over(drawing));
}

DRAWING_TEST(a_line_printed_above_the_rows_is_a_line)
{
	assert_seen(drawing, HIDE BEGIN "one\ntwo", 0, "[one\ntwo]");
	assert_seen(drawing, BEGIN UP "message\none\ntwo", 0, "[message\none\ntwo]");
	assert_seen(drawing, BEGIN UP "more\nlines\none\ntwo", 0,
		    "message\n[more\nlines\none\ntwo]");
	assert_seen(drawing, BEGIN UP "one\ntwo", MSEC_PER_SECOND, "more\nlines\n[one\ntwo]");
}

DRAWING_TEST(rows_may_become_fewer_and_more)
{
	assert_seen(drawing, HIDE "one\ntwo\nthree", 0, "[one\ntwo\nthree]");
	assert_seen(drawing, BEGIN UP UP "one", 0, "[one]");
	assert_seen(drawing, BEGIN "one\ntwo\nthree", 0, "[one\ntwo\nthree]");
}

/* Lightning's bar: a second row when there is more to show, and another bar below for a while. */
DRAWING_TEST(a_drawing_that_grows_leaves_no_row_of_its_frame_before)
{
	assert_seen(drawing, HIDE BEGIN "bar  0%", 0, "[bar  0%]");
	assert_seen(drawing, BEGIN "bar 50%", 60000, "[bar 50%]");
	assert_seen(drawing, BEGIN "bar 99%\nval", 90000, "[bar 99%\nval]");
	assert_seen(drawing, BEGIN UP "bar 99%\nloss 1\nval", 90100, "[bar 99%\nloss 1\nval]");
	assert_seen(drawing, BEGIN UP UP "bar  0%\nloss 1", 90200, "[bar  0%\nloss 1]");
	assert_last(drawing, "bar  0%\nloss 1\n");
}

DRAWING_TEST(lines_printed_without_a_frame_wait_for_a_second)
{
	assert_seen(drawing, HIDE BEGIN "one\ntwo" BEGIN UP "one\ntwo\n", START, "[one\ntwo]");
	assert_seen(drawing, "crash\n", START + 999, "[one\ntwo\ncrash]");
	assert_seen(drawing, "report\n", START + 1000, "one\ntwo\ncrash\n[report]");
}

DRAWING_TEST(nested_bars_below_the_cursor_are_rows)
{
	assert_seen(drawing, "outer  0%\n\rinner  0%\x1b[A", 0, "outer  0%\n[inner  0%]");
	assert_seen(drawing, "\router 50%\n\rinner 50%\x1b[A", 0, "[outer 50%\ninner 50%]");
	assert_seen(drawing, "\router 99%\n\rinner 99%\x1b[A", 0, "[outer 99%\ninner 99%]");
	assert_last(drawing, "outer 99%\ninner 99%\n");
}

DRAWING_TEST(a_row_drawn_before_it_began_is_counted)
{
	assert_seen(drawing, "two" BEGIN UP "one", 0, "[one]");
	assert_seen(drawing, "\ntwo" BEGIN UP "one 1\ntwo", 0, "[one 1\ntwo]");
}

DRAWING_TEST(a_line_above_one_row_is_a_line_when_the_next_frame_begins)
{
	assert_seen(drawing, HIDE "spinner\rline\nspinner", START, "[line\nspinner]");
	assert_seen(drawing, "\rsecond\nspinner", START + 100, "line\n[second\nspinner]");
	assert_seen(drawing, "\rspinner", START + 200, "second\n[spinner]");
	assert_seen(drawing, "\rready\n", START + 300, "[ready]");
	assert_seen(drawing, SHOW, START + 301, "ready\n[]");
}

DRAWING_TEST(lines_without_a_drawing_are_not_kept)
{
	assert_seen(drawing, "one\ntwo\x1b[A", 0, "one\n[two]");
	assert_seen(drawing, "\n\nline\n", 0, "two\n\n[line]");
	for (int i = 0; i < 40; i++)
		free(seen_of(drawing, "line\n", 5, 0));
	assert_seen(drawing, "", 0, "[]");
	assert_true(drawing_is_over(drawing));
}

DRAWING_TEST(colors_stay_in_a_row_and_erasing_does_not)
{
	assert_seen(drawing, "\x1b[31mred\x1b[0m\r", 0, "[\x1b[31mred\x1b[0m]");
	assert_seen(drawing, "\x1b[K", 0, "[]");
	assert_seen(drawing, "abc\x1b[1Gd", 0, "[d]");
	assert_seen(drawing, "\x1b[2Kx\x1b[5G\x1b]8;;url\x07y", 0, "[x\x1b]8;;url\x07y]");
	assert_seen(drawing, "\x1b[A\na\x1b[A\r\x1b[Jz", 0, "[z]");
}

DRAWING_TEST(a_sequence_may_come_in_pieces_and_a_row_has_a_limit)
{
	static char row[8192 + 3];
	char *seen CLEANUP(mem_free_text) = NULL;

	assert_int_equal(drawing_add(drawing, "a\x1b[1", 4, 0), 1);
	assert_int_equal(drawing_add(drawing, "\x1b[1234567890123456789012345678901A", 35, 0), 35);
	assert_last(drawing, "a\x1b[1234567890123456789012345678901A\n");
	memset(row, 'x', sizeof(row));
	row[sizeof(row) - 1] = '\n';
	seen = seen_of(drawing, row, sizeof(row), 0);
	assert_int_equal(strlen(seen), 8192 + 1 + strlen("+xx\n[]"));
	assert_string_equal(seen + 8192, "\n+xx\n[]");
}

TEST(what_begins_a_drawing_is_found)
{
	static const struct {
		const char *bytes;
		bool begins;
		size_t lifts;
	} rows[] = {
		{"text \x1b[1m 10%\x1b[0m\r", false, 0},
		{HIDE, true, 0},
		{SHOW, true, 0},
		{"two" BEGIN UP UP "one", true, 2},
		{"\x1b[12A\x1b[F", true, 13},
		{"\x1b[", false, 0},
		{"\x1b", false, 0},
		{"\x1b[99999999999999999999A", true, 99},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t lifts;

		assert_int_equal(drawing_begins(rows[i].bytes, strlen(rows[i].bytes), &lifts),
				 rows[i].begins);
		assert_int_equal(lifts, rows[i].lifts);
	}
}
