#include "unit.h"

#include "rendezvous/restart_budget.h"

#define START ((msec) 5000000)
#define MINUTE (60 * MSEC_PER_SECOND)

static struct restart_budget budget_of(int most, msec window, int max_no_progress)
{
	return (struct restart_budget){
		.terms = {.most = most, .window = window, .max_no_progress = max_no_progress}};
}

static void assert_granted(struct restart_budget *budget, msec now)
{
	assert_true(restart_budget_charge(budget, moment(now)));
	assert_int_equal(budget->end, RESTARTS_LEFT);
}

static void assert_ended(struct restart_budget *budget, msec now, enum restart_budget_end end)
{
	assert_false(restart_budget_charge(budget, moment(now)));
	assert_int_equal(budget->end, end);
}

TEST(so_many_restarts_and_no_more)
{
	struct restart_budget budget = budget_of(2, 0, 3);

	assert_granted(&budget, START);
	assert_granted(&budget, START + 1000 * MINUTE);
	assert_ended(&budget, START + 9000 * MINUTE, RESTARTS_SPENT);
}

TEST(without_a_limit_there_is_always_one)
{
	struct restart_budget budget = budget_of(-1, MINUTE, 3);

	for (int i = 0; i < 5000; i++)
		assert_granted(&budget, START + i);
}

TEST(a_restart_is_given_back_when_the_window_has_passed)
{
	struct restart_budget budget = budget_of(2, 10 * MINUTE, 0);

	assert_granted(&budget, START);
	assert_granted(&budget, START + 6 * MINUTE);
	assert_granted(&budget, START + 10 * MINUTE);
	assert_ended(&budget, START + 16 * MINUTE - 1, RESTARTS_SPENT);

	budget = budget_of(2, 10 * MINUTE, 0);
	assert_granted(&budget, START);
	assert_granted(&budget, START + 6 * MINUTE);
	assert_granted(&budget, START + 10 * MINUTE);
	assert_granted(&budget, START + 16 * MINUTE);
}

TEST(progress_gives_all_restarts_back)
{
	struct restart_budget budget = budget_of(1, 0, 0);

	for (int step = 10; step < 100; step += 10) {
		restart_budget_progress(&budget, step);
		assert_granted(&budget, START);
	}
	restart_budget_progress(&budget, 90); /* as far as before, after it was loaded */
	assert_ended(&budget, START, RESTARTS_SPENT);
}

TEST(failures_in_a_row_without_progress_are_limited)
{
	struct restart_budget budget = budget_of(-1, 0, 3);

	for (int i = 0; i < 10; i++)
		assert_granted(&budget, START); /* a script that reports nothing */
	restart_budget_progress(&budget, 7);
	assert_granted(&budget, START);
	restart_budget_progress(&budget, 7);
	assert_granted(&budget, START);
	assert_granted(&budget, START);
	assert_ended(&budget, START, RESTARTS_NO_PROGRESS);
}

TEST(a_charge_that_was_none_is_given_back)
{
	struct restart_budget budget = budget_of(1, MINUTE, 0);

	assert_granted(&budget, START);
	restart_budget_give_back(&budget);
	assert_granted(&budget, START + 1);
	assert_ended(&budget, START + 2, RESTARTS_SPENT);
	restart_budget_give_back(&budget);
	assert_int_equal(budget.end, RESTARTS_LEFT);
	assert_ended(&budget, START + 3, RESTARTS_SPENT);
}

TEST(another_process_goes_on_with_it)
{
	struct restart_budget budget = budget_of(2, 10 * MINUTE, 9);

	restart_budget_progress(&budget, 5);
	assert_granted(&budget, START);
	assert_granted(&budget, START + 4 * MINUTE);
	for (int i = 0; i < budget.n_charged; i++)
		budget.charged_at[i] = instant_add(budget.charged_at[i], -(START + 5 * MINUTE));
	struct restart_budget other = restart_budget_restore(&budget.terms, &budget, moment(0));

	assert_ended(&other, 4 * MINUTE, RESTARTS_SPENT);
	assert_granted(&other, 5 * MINUTE);
	assert_int_equal(other.progress, 5);
	assert_int_equal(other.n_no_progress, 3);
}
