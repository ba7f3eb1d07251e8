#include "unit.h"

#include "base/text.h"
#include "core/failure_text.h"

static void a_block_tells_cause_last_lines_and_consequences(void **state)
{
	(void) state;
	const char *lines[] = {"Traceback (most recent call last):", "ValueError: no"};
	struct consequence consequences[] = {
		{.role = "worker", .index = 0, .what = "was ended by muster"}};
	const struct failure failure = {
		.role = "worker",
		.index = 1,
		.message = "worker-1 exited with code 3 after 2s (attempt 0)",
		.last_lines = lines,
		.n_last_lines = 2,
		.consequences = consequences,
		.n_consequences = 1,
	};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&failure, &text);
	assert_string_equal(text_of(&text), "worker-1 exited with code 3 after 2s (attempt 0)\n"
					    "last lines of worker-1:\n"
					    "  | Traceback (most recent call last):\n"
					    "  | ValueError: no\n"
					    "only consequences:\n"
					    "  worker-0 was ended by muster\n");
}

static void a_failure_without_a_replica_is_one_sentence(void **state)
{
	(void) state;
	const struct failure failure = {.role = "", .index = -1, .reason = "DeadlineExceeded"};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&failure, &text);
	assert_string_equal(text_of(&text), "DeadlineExceeded\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_tells_cause_last_lines_and_consequences),
		cmocka_unit_test(a_failure_without_a_replica_is_one_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
