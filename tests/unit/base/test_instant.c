#include "unit.h"

TEST(moments_are_ordered_and_never_is_the_last)
{
	assert_true(instant_is_before(moment(1), moment(2)));
	assert_false(instant_is_before(moment(2), moment(2)));
	assert_true(instant_has_come(moment(2), moment(2)));
	assert_false(instant_has_come(moment(3), moment(2)));
	assert_true(instant_has_come(INSTANT_UNSET, moment(1)));
	assert_false(instant_has_come(INSTANT_NEVER, moment(INT64_MAX - 1)));
	assert_int_equal(instant_min(moment(3), INSTANT_NEVER).since_boot, 3);
	assert_true(instant_is_never(instant_max(moment(3), INSTANT_NEVER)));
}

TEST(durations_are_added_and_measured)
{
	assert_int_equal(instant_add(moment(100), 20).since_boot, 120);
	assert_int_equal(instant_add(moment(100), -20).since_boot, 80);
	assert_true(instant_is_never(instant_add(moment(100), MSEC_NEVER)));
	assert_true(instant_is_never(instant_add(INSTANT_NEVER, -20)));
	assert_int_equal(instant_since(moment(100), moment(120)), 20);
	assert_int_equal(instant_since(moment(120), moment(100)), -20);
	assert_false(instant_is_set(INSTANT_UNSET));
	assert_true(instant_is_set(moment(1)));
}
