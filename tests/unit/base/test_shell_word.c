#include "unit.h"

#include "base/shell_word.h"

static void assert_written(const char *word, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	shell_word_add(&text, word);
	assert_string_equal(text_of(&text), expected);
}

static void plain_words_stay_as_they_are(void **state)
{
	(void) state;
	assert_written("--image=a/b:1@sha256,c", "--image=a/b:1@sha256,c");
}

static void what_a_shell_would_read_otherwise_is_quoted(void **state)
{
	(void) state;
	assert_written("", "''");
	assert_written("a b", "'a b'");
	assert_written("worker|a:1;b:2", "'worker|a:1;b:2'");
	assert_written("it's", "'it'\\''s'");
	assert_written("~", "'~'");
	assert_written("$HOME", "'$HOME'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_words_stay_as_they_are),
		cmocka_unit_test(what_a_shell_would_read_otherwise_is_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
