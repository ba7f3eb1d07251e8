#include "unit.h"

#include "spec/quantity.h"

TEST(what_kubernetes_reads_is_a_quantity)
{
	static const char *const texts[] = {"1",    "0.5",   ".5",   "1.", "100m",
					    "2k",   "1.5Gi", "16Mi", "1E", "1e3",
					    "1E+3", "2e-1",  "+4",   "3u", "7n"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = {0};

		if (quantity_check(texts[i], &err))
			fail_msg("%s: %s", texts[i], err.text);
	}
}

TEST(anything_else_is_none)
{
	static const char *const texts[] = {"",    ".",  "-1",  "m",    "1.2.3", "1 ",   "1e",
					    "1e+", "1K", "0x1", "1Gi ", "one",   "1e++3"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (quantity_check(texts[i], NULL) != ERR_INVALID)
			fail_msg("'%s' was taken", texts[i]);
}

TEST(nothing_is_not_enough)
{
	struct err err = {0};

	assert_int_equal(quantity_check("0", &err), ERR_INVALID);
	assert_string_equal(err.text, "'0' must be more than 0");
	assert_int_equal(quantity_check("0.00Gi", &err), ERR_INVALID);
	assert_int_equal(quantity_check("0.01Gi", &err), 0);
}

TEST(what_may_have_been_meant_is_said)
{
	static const char *const pairs[][2] = {
		{"4GB", "'4G'"},    {"4 Gi", "'4Gi'"},     {"4gi", "'4Gi'"},
		{"1.5g", "'1.5G'"}, {"512mib", "'512Mi'"}, {"7B", "'7'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct err err = {0};

		assert_int_equal(quantity_check(pairs[i][0], &err), ERR_INVALID);
		assert_non_null(strstr(err.text, "did you mean"));
		assert_non_null(strstr(err.text, pairs[i][1]));
	}
}

TEST(memory_that_is_no_memory_is_refused)
{
	static const char *const pairs[][2] = {{"4", "'4Gi'"},
					       {"512m", "'512Mi'"},
					       {"4000", "'4000Mi'"},
					       {"100k", "too small for any program"},
					       {"1e3", "too small for any program"},
					       {"4gi", "'4Gi'"}};
	static const char *const right[] = {"1Mi", "1048576", "1.5G", "1e9", "+4Gi", "2000M"};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct err err = {0};

		assert_int_equal(quantity_check_memory(pairs[i][0], &err), ERR_INVALID);
		assert_non_null(strstr(err.text, pairs[i][1]));
	}
	for (size_t i = 0; i < ARRAY_LEN(right); i++)
		assert_int_equal(quantity_check_memory(right[i], NULL), 0);
}

TEST(amounts_are_added_in_whole_units_or_thousandths)
{
	static const struct {
		const char *a, *b, *sum;
	} rows[] = {
		{"500m", "500m", "1"},           {"0.1", "0.2", "300m"},
		{"1Gi", "2G", "3073741824"},     {"0", "1", "1"},
		{"20Ti", "1", "21990232555521"}, {"9E", "9E", "18000000000000000000"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text text CLEANUP(text_done) = {0};
		double a = -1, b = -1;

		assert_int_equal(quantity_read(rows[i].a, &a, NULL), 0);
		assert_int_equal(quantity_read(rows[i].b, &b, NULL), 0);
		quantity_add(a + b, &text);
		assert_string_equal(text_of(&text), rows[i].sum);
	}
	assert_int_equal(quantity_read("4GB", &(double){0}, NULL), ERR_INVALID);
}
