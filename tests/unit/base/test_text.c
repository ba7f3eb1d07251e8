#include "unit.h"

#include "base/mem.h"
#include "base/text.h"

#include <float.h>

TEST(text_grows_and_is_taken)
{
	struct text text CLEANUP(text_done) = {0};

	assert_string_equal(text_of(&text), "");
	for (int i = 0; i < 1000; i++)
		text_addf(&text, "%03d,", i);
	assert_int_equal(text.len, 4000);
	text_add_char(&text, '!');
	char *taken CLEANUP(mem_free_text) = text_take(&text);

	assert_string_equal(taken + 3996, "999,!");
	assert_string_equal(text_of(&text), "");
	char *nothing CLEANUP(mem_free_text) = text_take(&text);

	assert_string_equal(nothing, "");
}

TEST(a_cleared_text_begins_again)
{
	struct text text CLEANUP(text_done) = {0};

	text_clear(&text);
	text_add(&text, "before");
	text_clear(&text);
	text_add(&text, "x");
	assert_string_equal(text_of(&text), "x");
}

TEST(texts_are_compared)
{
	assert_true(text_equals(NULL, NULL));
	assert_false(text_equals("", NULL));
	assert_true(text_equals_ignoring_case("Worker", "wORKER"));
	assert_true(text_starts_with("worker-0", "worker-"));
	assert_false(text_starts_with("w", "worker"));
	assert_true(text_ends_with("train.py", ".py"));
	assert_false(text_ends_with("y", ".py"));
}

TEST(numbers_are_whole_and_in_range)
{
	int64_t number = 77;
	struct err err = {0};

	assert_int_equal(text_read_int("-9223372036854775807", INT64_MIN, INT64_MAX, &number, NULL),
			 0);
	assert_true(number == -INT64_MAX);
	assert_int_equal(text_read_int("+007", 0, 7, &number, NULL), 0);
	assert_int_equal(number, 7);
	static const char *const wrong[] = {"",   "-",   "+-1", "1 ", " 1",
					    "1x", "0x1", "8",   "-1", "9223372036854775808"};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(text_read_int(wrong[i], 0, 7, &number, &err), ERR_INVALID);
	assert_int_equal(text_read_int(NULL, 0, 7, &number, &err), ERR_INVALID);
	assert_int_equal(text_read_int("8", 0, 7, &number, &err), ERR_INVALID);
	assert_string_equal(err.text, "'8' is not a whole number from 0 to 7");
	assert_int_equal(number, 7);
}

TEST(reals_are_written_short_and_read_back)
{
	static const struct {
		double number;
		const char *text;
	} table[] = {
		{0.1, "0.1"},
		{1, "1.0"},
		{-2.5, "-2.5"},
		{1e100, "1e+100"},
		{1.0 / 3, "0.3333333333333333"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{5e-324, "4.94065645841247e-324"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct text text CLEANUP(text_done) = {0};
		double again;

		text_add_real(&text, table[i].number);
		assert_string_equal(text_of(&text), table[i].text);
		assert_int_equal(text_read_real(text_of(&text), &again, NULL), 0);
		assert_true(again == table[i].number);
	}
}

TEST(what_is_no_finite_number_is_refused)
{
	static const char *const wrong[] = {"", "nan", "inf", "1e999", "0x1p3", "1,5", "1 ", "."};
	double number;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(text_read_real(wrong[i], &number, NULL), ERR_INVALID);
}

TEST(durations_are_read_as_people_write_them)
{
	static const struct {
		const char *text;
		msec duration;
	} table[] = {
		{"30s", 30000},
		{"10m", 600000},
		{"1h30m", 5400000},
		{"250ms", 250},
		{"2d", 172800000},
		{"0.5s", 500},
		{"1.5h", 5400000},
		{".25s", 250},
		{"0", 0},
		{"0s", 0},
		{"1d2h3m4s5ms", 93784005},
		{"36525d", INT64_C(36525) * 86400000},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		msec duration = -1;

		assert_int_equal(text_read_duration(table[i].text, &duration, NULL), 0);
		assert_int_equal(duration, table[i].duration);
	}
}

TEST(what_is_no_duration_is_refused)
{
	static const char *const wrong[] = {"",
					    "s",
					    "-1s",
					    "1 s",
					    "1x",
					    "1m30",
					    "10mm",
					    ".",
					    "1.s",
					    "1e3s",
					    "soon",
					    "30S",
					    "99999999999999999999"};
	struct err err = {0};
	msec duration = 5;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(text_read_duration(wrong[i], &duration, &err), ERR_INVALID);
	assert_int_equal(text_read_duration("36526d", &duration, &err), ERR_INVALID);
	assert_string_equal(err.text, "'36526d' is longer than 100 years");
	assert_int_equal(duration, 5);
}

TEST(a_duration_without_a_unit_is_asked_for_one)
{
	struct err err = {0};
	msec duration = 5;

	assert_int_equal(text_read_duration("30", &duration, &err), ERR_INVALID);
	assert_string_equal(err.text, "'30' has no unit; did you mean 30s or 30m?");
	assert_int_equal(text_read_duration("0.5", &duration, &err), ERR_INVALID);
	assert_string_equal(err.text, "'0.5' has no unit; did you mean 0.5s or 0.5m?");
	assert_int_equal(duration, 5);
}

TEST(durations_are_shown_as_kubectl_shows_ages)
{
	static const struct {
		msec duration;
		const char *text;
	} table[] = {
		{-5, "0s"},
		{0, "0s"},
		{850, "850ms"},
		{1999, "1s"},
		{119000, "119s"},
		{120000, "2m"},
		{250000, "4m10s"},
		{599000, "9m59s"},
		{600000, "10m"},
		{10740000, "179m"},
		{10920000, "3h2m"},
		{28800000, "8h"},
		{172800000, "2d"},
		{176400000, "2d1h"},
		{691200000, "8d"},
		{INT64_C(63072000000), "2y"},
		{INT64_C(63158400000), "2y1d"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct text text CLEANUP(text_done) = {0};

		text_add_duration(&text, table[i].duration);
		assert_string_equal(text_of(&text), table[i].text);
	}
}

TEST(times_are_written_and_read_back)
{
	static const struct {
		msec time;
		const char *text;
	} table[] = {
		{0, "1970-01-01T00:00:00Z"},
		{-1, "1969-12-31T23:59:59.999Z"},
		{INT64_C(1767323045678), "2026-01-02T03:04:05.678Z"},
		{INT64_C(1767323045000), "2026-01-02T03:04:05Z"},
		{INT64_C(951782400000), "2000-02-29T00:00:00Z"},
		{INT64_C(253402300799999), "9999-12-31T23:59:59.999Z"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct text text CLEANUP(text_done) = {0};
		msec again = 0;

		text_add_time(&text, table[i].time);
		assert_string_equal(text_of(&text), table[i].text);
		assert_int_equal(text_read_time(table[i].text, &again, NULL), 0);
		assert_int_equal(again, table[i].time);
	}
}

TEST(times_may_have_zones_and_long_fractions)
{
	msec time = 0;

	assert_int_equal(text_read_time("2026-01-02T03:04:05.678901Z", &time, NULL), 0);
	assert_int_equal(time, INT64_C(1767323045678));
	assert_int_equal(text_read_time("2026-01-02T04:34:05+01:30", &time, NULL), 0);
	assert_int_equal(time, INT64_C(1767323045000));
	static const char *const wrong[] = {
		"",
		"2026-01-02",
		"2026-13-02T03:04:05Z",
		"2026-02-29T03:04:05Z",
		"2026-01-02T24:04:05Z",
		"2026-01-02T03:04:05",
		"2026-01-02T03:04:05.Z",
		"2026-01-02 03:04:05Z",
		"2026-01-02T03:04:05Zx",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(text_read_time(wrong[i], &time, NULL), ERR_INVALID);
}

TEST(utf8_is_told_from_other_bytes)
{
	static const char *const wrong[] = {
		"\x80",     "\xc0\x80",         "\xc3",         "\xe0\x80\x80", "\xed\xa0\x80",
		"\xf0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80", "\xe2\x82",
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(text_is_utf8(wrong[i], strlen(wrong[i])));
	const char *right = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xee\x80\x80";

	assert_true(text_is_utf8(right, strlen(right)));
	struct text text CLEANUP(text_done) = {0};

	text_add_as_utf8(&text, "a\xff\xc3\xa9\xe2\x82", 6);
	assert_string_equal(text_of(&text), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(a_time_may_be_told_by_the_clocks_of_a_zone)
{
	static const struct {
		int offset;
		const char *text;
	} table[] = {
		{0, "2026-01-01T23:30:00Z"},
		{60, "2026-01-02T00:30:00+01:00"},
		{-210, "2026-01-01T20:00:00-03:30"},
		{345, "2026-01-02T05:15:00+05:45"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct text text CLEANUP(text_done) = {0};

		text_add_time_ahead(&text, 1767310200000, table[i].offset);
		assert_string_equal(text_of(&text), table[i].text);
	}
}

TEST(the_times_of_lines_have_one_width)
{
	static const struct {
		msec time;
		int offset;
		const char *text;
	} table[] = {
		{1767310200000, 0, "2026-01-01T23:30:00.000Z"},
		{1767310200007, 0, "2026-01-01T23:30:00.007Z"},
		{1767310200000, 60, "2026-01-02T00:30:00.000+01:00"},
		{1767310200999, 60, "2026-01-02T00:30:00.999+01:00"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct text text CLEANUP(text_done) = {0};

		text_add_line_time(&text, table[i].time, table[i].offset);
		assert_string_equal(text_of(&text), table[i].text);
	}
}

TEST(a_text_loses_its_beginning)
{
	struct text text CLEANUP(text_done) = {0};

	text_remove_beginning(&text, 0);
	text_add(&text, "behind");
	text_remove_beginning(&text, 2);
	assert_string_equal(text_of(&text), "hind");
	text_remove_beginning(&text, 4);
	text_add(&text, "more");
	assert_string_equal(text_of(&text), "more");
}
