/* Two questions about what a back end sees. */
#include "unit.h"

#include "reconcile/plan.h"

TEST(only_starting_and_running_are_alive)
{
	const bool expected[OBSERVED_PHASE_COUNT] = {
		[OBSERVED_STARTING] = true,
		[OBSERVED_RUNNING] = true,
	};

	for (int phase = 0; phase < OBSERVED_PHASE_COUNT; phase++) {
		const struct observed_replica replica = {.phase = (enum observed_phase) phase};

		assert_int_equal(observed_is_live(&replica), expected[phase]);
		assert_non_null(observed_phase_words[phase]);
	}
}

TEST(a_stop_and_a_kill_are_both_asked_for)
{
	assert_false(observed_was_asked_to_end(&(struct observed_replica){0}));
	assert_true(observed_was_asked_to_end(&(struct observed_replica){.stop_asked_at = 1}));
	assert_true(observed_was_asked_to_end(&(struct observed_replica){.is_killed = true}));
}

/* How far the start of Pods has come. */

TEST(each_pod_counts_for_what_it_has_behind_it)
{
	static const struct observed_replica pods[] = {
		{.phase = OBSERVED_STARTING},
		{.phase = OBSERVED_STARTING, .stage = OBSERVED_SCHEDULED},
		{.phase = OBSERVED_STARTING, .stage = OBSERVED_SET_UP},
		{.phase = OBSERVED_RUNNING},
	};
	struct startup startup = {0};
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < ARRAY_LEN(pods); i++)
		startup_add(&startup, &pods[i], 1);
	startup_describe(&startup, &text);
	assert_string_equal(text_of(&text), "4 Pods: 3 scheduled, 2 set up, 1 running");
	assert_false(startup_is_over(&startup, 4));
}

TEST(it_is_over_when_all_have_started)
{
	const struct observed_replica ended = {.phase = OBSERVED_SUCCEEDED};
	struct startup startup = {0};
	struct text text CLEANUP(text_done) = {0};

	startup_add(&startup, &ended, 1);
	assert_true(startup_is_over(&startup, 1));
	assert_false(startup_is_over(&startup, 2));
	startup_describe(&startup, &text);
	assert_string_equal(text_of(&text), "1 Pod: 1 scheduled, 1 set up, 1 running");
}

TEST(who_failed_before_it_began_never_ran)
{
	const struct observed_replica pods[] = {
		{.phase = OBSERVED_FAILED, .stage = OBSERVED_SET_UP, .started_at = MSEC_UNSET},
		{.phase = OBSERVED_FAILED, .started_at = 1000},
	};
	struct startup startup = {0};
	struct text text CLEANUP(text_done) = {0};

	for (size_t i = 0; i < ARRAY_LEN(pods); i++)
		startup_add(&startup, &pods[i], 1);
	startup_describe(&startup, &text);
	assert_string_equal(text_of(&text), "2 Pods: 2 scheduled, 2 set up, 1 running");
	assert_false(startup_is_over(&startup, 2));
}
