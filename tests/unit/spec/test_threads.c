/* Cores divided among the replicas of a job. */
#include "unit.h"

#include "spec/threads.h"

static void cores_are_divided_among_replicas(void **state)
{
	(void) state;
	assert_int_equal(threads_of_replica(0, 8, 3), 2);
	assert_int_equal(threads_of_replica(0, 2, 4), 1);
	assert_int_equal(threads_of_replica(0, 1.5, 2), 1);
	assert_int_equal(threads_of_replica(0, 7.5, 2), 3);
	assert_int_equal(threads_of_replica(0, 0, 2), 1);
}

static void a_single_replica_has_no_limit(void **state)
{
	(void) state;
	assert_int_equal(threads_of_replica(0, 8, 1), 0);
	assert_int_equal(threads_of_replica(0, 8, 0), 0);
	assert_int_equal(threads_of_replica(3, 8, 1), 3);
}

static void what_a_replica_asks_for_is_its_own(void **state)
{
	(void) state;
	assert_int_equal(threads_of_replica(3, 2, 4), 3);
	assert_int_equal(threads_of_replica(0.5, 8, 1), 1);
	assert_int_equal(threads_of_replica(1e300, 8, 1), THREADS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_are_divided_among_replicas),
		cmocka_unit_test(a_single_replica_has_no_limit),
		cmocka_unit_test(what_a_replica_asks_for_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
