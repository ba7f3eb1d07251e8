/* When a finished job is to be deleted. */
#include "unit.h"

#include "reconcile/expiry.h"

static struct condition end = {CONDITION_FAILED, true, "TFJobFailed", "", 7000, 7000};

TEST(a_finished_job_is_kept_for_its_time_to_live)
{
	struct job job = {.ttl_after_finished = 60000};
	struct status status = {.conditions = &end, .n_conditions = 1, .completion_time = 5000};

	assert_int_equal(expiry_of_job(&job, &status), 65000);
	job.ttl_after_finished = -1;
	assert_true(expiry_of_job(&job, &status) == MSEC_NEVER);
}

TEST(a_suspended_job_is_kept)
{
	struct job job = {.ttl_after_finished = 0, .is_suspended = true};
	struct status status = {.conditions = &end, .n_conditions = 1, .completion_time = 5000};

	assert_true(expiry_of_job(&job, &status) == MSEC_NEVER);
}

TEST(a_job_that_has_not_finished_is_kept)
{
	struct job job = {.ttl_after_finished = 0};
	struct status status = {0};

	assert_true(expiry_of_job(&job, &status) == MSEC_NEVER);
}

TEST(without_a_completion_time_the_end_counts_from_its_condition)
{
	struct job job = {.ttl_after_finished = 60000};
	struct status status = {.conditions = &end, .n_conditions = 1};

	assert_int_equal(expiry_of_job(&job, &status), 67000);
}
