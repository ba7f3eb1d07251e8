#include "unit.h"

#include "spec/expression.h"

static void assert_taken(const char *expression)
{
	struct err err = {0};

	if (expression_check(expression, &err) < 0)
		fail_msg("%s", err.text);
}

static void assert_refused(const char *expression, const char *sentence)
{
	struct err err = {0};

	assert_int_equal(expression_check(expression, &err), ERR_INVALID);
	if (!strstr(err.text, sentence))
		fail_msg("%s", err.text);
}

#define TOO_LONG "expands to more than 500 characters"

TEST(expressions_of_every_day_are_taken)
{
	assert_taken("");
	assert_taken("Error|Warning");
	assert_taken("loss: [0-9]+\\.[0-9]{2,4}");
	assert_taken("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}");
	assert_taken("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
	assert_taken("^.{200}$");
	assert_taken("((((a*)*)*)*)*b");
	assert_taken("a\\{1000\\}");
}

TEST(repeats_that_multiply_are_refused)
{
	assert_taken("(a{1,20}){1,20}");
	assert_refused("(a{1,255}){1,255}b", TOO_LONG);
	assert_refused("((a?){255}){100}b", TOO_LONG);
	assert_refused("a{100}{100}", TOO_LONG);
	assert_refused("(((a{1,30}){1,30}){1,30}){1,30}", TOO_LONG);
	assert_refused("a{501}", TOO_LONG);
	assert_refused("a{99999999999999999999999}", TOO_LONG);
	assert_refused("[[:alpha:]]{250}[a]{251}", TOO_LONG);
	assert_refused("((((((((((x{9}){9}){9}){9}){9}){9}){9}){9}){9}){9}", TOO_LONG);
}

TEST(what_only_looks_like_a_repeat_or_a_group_is_none)
{
	assert_taken("[{(]{3}");
	assert_taken("[]{9999}]");
	assert_taken("[^]{9999}]");
	assert_taken("[[:digit:]{9999}[.].]]x");
	assert_taken("\\(\\)");
	assert_taken("a)b");
	assert_taken("[");
	assert_taken("\\");
	assert_taken("(");
}

TEST(back_references_are_refused)
{
	assert_refused("(a*)*\\1b", "back-reference (\\1)");
	assert_taken("[\\1]");
}

TEST(what_stands_between_braces_is_a_repeat)
{
	assert_taken("a{2,}b{0}c{0,3}");
	assert_refused("{\"loss\"", "for the character, write \\{");
	assert_refused("a{~2}", "{ begins a repetition");
	assert_refused("a{1", "{ begins a repetition");
	assert_refused("a{,3}", "{ begins a repetition");
}

TEST(groups_are_opened_so_deep_and_no_deeper)
{
	char expression[201] = {0};

	memset(expression, '(', 99);
	assert_taken(expression);
	memset(expression, '(', 200);
	assert_refused(expression, "100 deep");
}
