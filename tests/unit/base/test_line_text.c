#include "unit.h"

#include "base/line_text.h"

static void assert_last_state(const char *line, const char *expected)
{
	size_t len = strlen(line);
	const char *state = line_text_last_state(line, &len);

	assert_int_equal(len, strlen(expected));
	assert_memory_equal(state, expected, len);
}

static void assert_safe(const char *line, size_t len, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	line_text_add_safe(&text, line, len);
	assert_string_equal(text_of(&text), expected);
}

static void assert_plain(const char *line, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	line_text_add_plain(&text, line, strlen(line));
	assert_string_equal(text_of(&text), expected);
}

#define ASSERT_SAFE(line, expected) assert_safe(line, sizeof(line) - 1, expected)

static void assert_sentence(const char *sentence, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	line_text_add_sentence(&text, sentence, strlen(sentence));
	assert_string_equal(text_of(&text), expected);
}

TEST(a_progress_bar_is_what_it_showed_last)
{
	assert_last_state("10%\r20%\r30%", "30%");
	assert_last_state("10%\r20%\r", "20%");
	assert_last_state("\r 5%|#    |", " 5%|#    |");
	assert_last_state("1/10\b\b\b\b\r2/10\b\b\b\b\r10/10 - loss: 0.1", "10/10 - loss: 0.1");
}

TEST(a_carriage_return_before_the_line_feed_is_part_of_the_end)
{
	assert_last_state("plain\r", "plain");
	assert_last_state("plain\r\r", "plain");
	assert_last_state("plain", "plain");
	assert_last_state("", "");
	assert_last_state("\r", "");
}

TEST(colours_stay_and_end_with_the_line)
{
	assert_plain("\x1b[1;31mred\x1b[0m\a and \x1b[4mline\x1b[m", "red and line");
	ASSERT_SAFE("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m\x1b[0m");
	ASSERT_SAFE("\x1b[38:5:1mred", "\x1b[38:5:1mred\x1b[0m");
}

TEST(nothing_moves_the_cursor_or_rings)
{
	ASSERT_SAFE("a\x1b[2Kb\x1b[10;10Hc\x1b[?25ld", "abcd");
	ASSERT_SAFE("a\x1b]0;title\x07"
		    "b\x1b]8;;http://x\x1b\\c",
		    "abc");
	ASSERT_SAFE("a\x1b"
		    "7b\x1b(Bc\x1b"
		    "cd",
		    "abcd");
	ASSERT_SAFE("bell\a nul\0 form\f tab\t.", "bell nul form tab\t.");
	ASSERT_SAFE("next line\xc2\x85.", "next line.");
	ASSERT_SAFE("cut\x1b[12", "cut");
	ASSERT_SAFE("cut\x1b", "cut");
	ASSERT_SAFE("cut\x1b]0;title", "cut");
}

TEST(a_backspace_takes_a_character_away)
{
	ASSERT_SAFE("50%\b\b\b60%", "60%");
	ASSERT_SAFE("gr\xc3\xbc\bo", "gro");
	ASSERT_SAFE("\b\bstart", "start");
	ASSERT_SAFE("\x1b[1m\b\bx", "\x1b[1mx\x1b[0m");
}

TEST(what_is_no_text_is_replaced)
{
	ASSERT_SAFE("ok \xc3\xa9 \xe2\x96\x88 \xf0\x9f\x98\x80", "ok é █ 😀");
	ASSERT_SAFE("\xff|\xc3|\xe2\x96|\xc0\x80", "\ufffd|\ufffd|\ufffd\ufffd|\ufffd\ufffd");
	ASSERT_SAFE("\xed\xa0\x80", "\ufffd\ufffd\ufffd");
}

TEST(a_sentence_stays_in_its_line_and_does_nothing_to_a_terminal)
{
	assert_sentence("two\nlines\tof it\r\n \n", "two lines of it");
	assert_sentence("\x1b[31mred\x1b[0m\a \xc2\x9b"
			"2J",
			"?[31mred?[0m? ?2J");
	assert_sentence("ü \xff", "ü \xef\xbf\xbd");
	assert_sentence("\n", "");
	assert_sentence("", "");
}

TEST(lines_keep_their_ends_and_do_nothing_to_a_terminal)
{
	static const char lines[] = "NAME\tAGE\n\x1b[2Jx\r\n\xc2\x9bm \x7f\x9b ü\n\n";
	struct text text CLEANUP(text_done) = {0};

	line_text_add_lines(&text, lines, strlen(lines));
	assert_string_equal(text_of(&text), "NAME\tAGE\n?[2Jx \n?m ?\xef\xbf\xbd ü\n\n");
}

TEST(a_piece_ends_between_characters)
{
	assert_int_equal(line_text_whole_characters("abc", 3), 3);
	assert_int_equal(line_text_whole_characters("ab\xc3", 3), 2);
	assert_int_equal(line_text_whole_characters("a\xe2\x96", 3), 1);
	assert_int_equal(line_text_whole_characters("a\xe2\x96\x88", 4), 4);
	assert_int_equal(line_text_whole_characters("\x96\x96\x96\x96\x96", 5), 5);
	assert_int_equal(line_text_whole_characters("\xe2", 1), 1);
}

static void assert_width(const char *line, size_t expected)
{
	assert_int_equal(line_width(line, strlen(line)), expected);
}

static void assert_cut(const char *line, size_t columns, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	line_add_cut(&text, line, strlen(line), columns);
	assert_string_equal(text_of(&text), expected);
}

TEST(characters_take_as_many_columns_as_terminals_give_them)
{
	assert_width("", 0);
	assert_width("40/40 ━━━━", 10);
	assert_width("\x1b[1mbold\x1b[0m", 4);
	assert_width("日本", 4);
	assert_width("e\u0301", 1);
	assert_width("\U0001f680", 2);
	assert_width("a\tb\t", 16);
	assert_width("\xff\xff", 2);
}

TEST(a_line_takes_the_rows_that_it_is_wrapped_into)
{
	assert_int_equal(line_rows("", 0, 10), 1);
	assert_int_equal(line_rows("0123456789", 10, 10), 1);
	assert_int_equal(line_rows("0123456789a", 11, 10), 2);
	assert_int_equal(line_rows("0123456789a", 11, 1), 11);
}

TEST(what_does_not_fit_is_cut_and_seen_to_be_cut)
{
	assert_cut("40/40 [====]", 12, "40/40 [====]");
	assert_cut("40/40 [====]", 11, "40/40 [===…");
	assert_cut("40/40 [====]", 1, "…");
	assert_cut("日本語", 5, "日本…");
	assert_cut("日本語", 4, "日…");
}

TEST(a_colour_that_is_cut_off_ends_there)
{
	assert_cut("\x1b[1mbold and long\x1b[0m", 5, "\x1b[1mbold…\x1b[0m");
	assert_cut("plain \x1b[1mbold\x1b[0m", 4, "pla…");
	assert_cut("\x1b[1mbold\x1b[0m", 4, "\x1b[1mbold\x1b[0m");
}
