#include "unit.h"

#include "base/line_width.h"

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

static void characters_take_as_many_columns_as_terminals_give_them(void **state)
{
	(void) state;
	assert_width("", 0);
	assert_width("40/40 ━━━━", 10);
	assert_width("\x1b[1mbold\x1b[0m", 4);
	assert_width("日本", 4);
	assert_width("e\u0301", 1);
	assert_width("\U0001f680", 2);
	assert_width("a\tb\t", 16);
	assert_width("\xff\xff", 2);
}

static void a_line_takes_the_rows_that_it_is_wrapped_into(void **state)
{
	(void) state;
	assert_int_equal(line_rows("", 0, 10), 1);
	assert_int_equal(line_rows("0123456789", 10, 10), 1);
	assert_int_equal(line_rows("0123456789a", 11, 10), 2);
	assert_int_equal(line_rows("0123456789a", 11, 1), 11);
}

static void what_does_not_fit_is_cut_and_seen_to_be_cut(void **state)
{
	(void) state;
	assert_cut("40/40 [====]", 12, "40/40 [====]");
	assert_cut("40/40 [====]", 11, "40/40 [===…");
	assert_cut("40/40 [====]", 1, "…");
	assert_cut("日本語", 5, "日本…");
	assert_cut("日本語", 4, "日…");
}

static void a_colour_that_is_cut_off_ends_there(void **state)
{
	(void) state;
	assert_cut("\x1b[1mbold and long\x1b[0m", 5, "\x1b[1mbold…\x1b[0m");
	assert_cut("plain \x1b[1mbold\x1b[0m", 4, "pla…");
	assert_cut("\x1b[1mbold\x1b[0m", 4, "\x1b[1mbold\x1b[0m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_take_as_many_columns_as_terminals_give_them),
		cmocka_unit_test(a_line_takes_the_rows_that_it_is_wrapped_into),
		cmocka_unit_test(what_does_not_fit_is_cut_and_seen_to_be_cut),
		cmocka_unit_test(a_colour_that_is_cut_off_ends_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
