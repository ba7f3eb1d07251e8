/* What is known of errors: src/status/advice.txt. */
#include "unit.h"

#include "base/text.h"
#include "status/advice.h"

/* A line that has the words, and something between them. */
static void add_line(struct text *line, const char *words)
{
	text_add(line, "[rank0]: ");
	for (; *words; words++)
		text_add(line, *words == '*' ? " 17 " : (char[]){*words, '\0'});
	text_add(line, " and more");
}

TEST(no_row_hides_another)
{
	assert_true(advice_row_count > 40);
	for (size_t i = 0; i < advice_row_count; i++) {
		struct text line CLEANUP(text_done) = {0};

		add_line(&line, advice_rows[i].words);
		assert_string_equal(advice_find(text_of(&line)), advice_rows[i].advice);
	}
}

TEST(an_advice_is_a_sentence)
{
	for (size_t i = 0; i < advice_row_count; i++) {
		const char *advice = advice_rows[i].advice;

		assert_true(strlen(advice) < 400);
		assert_false(text_ends_with(advice, "."));
		assert_false(text_ends_with(advice, " "));
	}
}

TEST(words_are_found_in_their_order)
{
	assert_non_null(
		advice_find("RuntimeError: DataLoader worker (pid(s) 529) exited unexpectedly"));
	assert_non_null(advice_find(
		"worker (pid 5) DataLoader worker (pid 7) is killed by signal: Killed. "));
	assert_null(advice_find("is killed by signal: Killed, DataLoader worker (pid"));
	assert_null(advice_find("loss 0.3"));
	assert_null(advice_find(""));
}
