/* How people write signals, and which one a stop sends. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/stop_signal.h"

#include <signal.h>

static void a_signal_has_a_name_with_and_without_its_prefix_and_a_number(void **state)
{
	(void) state;
	static const char *const words[] = {"INT", "SIGINT", "int", "SigInt", "2"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		int number = 0;

		assert_int_equal(stop_signal_read(words[i], &number, NULL), 0);
		assert_int_equal(number, SIGINT);
	}
}

static void what_is_no_signal_is_answered_with_the_usual_ones(void **state)
{
	(void) state;
	static const char *const words[] = {"", "SIG", "STOPP", "0", "-2", "65", "2x", " INT"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct err err = {0};
		int number = -1;

		assert_int_equal(stop_signal_read(words[i], &number, &err), ERR_INVALID);
		assert_int_equal(number, -1);
		assert_non_null(strstr(err.text, "TERM, INT, HUP"));
	}
}

static void a_signal_is_written_as_images_have_it(void **state)
{
	(void) state;
	char *named CLEANUP(mem_free_text) = stop_signal_format(SIGUSR1);
	char *unnamed CLEANUP(mem_free_text) = stop_signal_format(SIGRTMIN + 1);

	assert_string_equal(named, "SIGUSR1");
	assert_int_equal(atoi(unnamed), SIGRTMIN + 1);
}

static void a_stop_is_term_and_ctrl_c_int_unless_the_job_says_otherwise(void **state)
{
	(void) state;
	struct job job = {0};

	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.stop_reason = stop_reason_words[STOP_REQUESTED];
	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.stop_reason = stop_reason_words[STOP_INTERRUPTED];
	assert_int_equal(stop_signal_of(&job), SIGINT);
	job.stop_reason = stop_reason_words[STOP_HANGUP];
	assert_int_equal(stop_signal_of(&job), SIGTERM);
	job.elastic_id = "1";
	assert_int_equal(stop_signal_of(&job), SIGHUP);
	job.stop_reason = stop_reason_words[stop_signal_reason(SIGUSR2)];
	assert_int_equal(stop_signal_of(&job), SIGUSR2);
	assert_int_equal(stop_reason_exit_code(job.stop_reason), 128 + SIGUSR2);
	job.stop_signal = SIGUSR1;
	assert_int_equal(stop_signal_of(&job), SIGUSR1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_has_a_name_with_and_without_its_prefix_and_a_number),
		cmocka_unit_test(what_is_no_signal_is_answered_with_the_usual_ones),
		cmocka_unit_test(a_signal_is_written_as_images_have_it),
		cmocka_unit_test(a_stop_is_term_and_ctrl_c_int_unless_the_job_says_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
