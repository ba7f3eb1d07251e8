#include "unit.h"

#include "base/backoff.h"

#include <limits.h>

static void assert_pauses(msec first, msec longest, const msec *pauses, int count)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(backoff_pause(first, longest, i), pauses[i]);
}

TEST(pauses_double_up_to_the_longest)
{
	assert_pauses(1000, 30000, (msec[]){0, 1000, 2000, 4000, 8000, 16000, 30000, 30000}, 8);
	assert_pauses(200, 10000, (msec[]){0, 200, 400, 800, 1600, 3200, 6400, 10000, 10000}, 9);
	assert_pauses(100, 100, (msec[]){0, 100, 100}, 3);
	assert_pauses(500, 100, (msec[]){0, 100, 100}, 3);
}

TEST(no_number_of_failures_is_too_large)
{
	assert_int_equal(backoff_pause(1, 1000, INT_MAX), 1000);
	assert_int_equal(backoff_pause(1, MSEC_NEVER, INT_MAX), MSEC_NEVER);
	assert_int_equal(backoff_pause(1000, 30000, -1), 0);
}

TEST(a_pause_is_spread_by_a_part_of_it)
{
	assert_int_equal(backoff_spread(1000, 0.5, 0), 1000);
	assert_int_equal(backoff_spread(1000, 0.5, 1), 1500);
	assert_int_equal(backoff_spread(800, 1, 0.25), 1000);
	assert_int_equal(backoff_spread(0, 1, 1), 0);
}
