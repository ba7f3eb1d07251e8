/* Two questions about what a back end sees. */
#include "unit.h"

#include "reconcile/observed.h"

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
