/* What was pending with Pods, laid over what a mirror shows of them. */
#include "unit.h"

#include "cluster/pending.h"

#define NOW ((msec) 1000000)

static int set_up(void **state)
{
	*state = mem_new(sizeof(struct mirror_table));
	return 0;
}

static int tear_down(void **state)
{
	pending_table_done(*state);
	free(*state);
	return 0;
}

static struct pending *entry(void **state)
{
	return pending_at(*state, NULL, "digits-worker-1", "worker", 1);
}

TEST_WITH(set_up, tear_down, a_name_has_one_entry)
{
	struct mirror_table *table = *state;
	struct pending *pending = entry(state);

	assert_ptr_equal(entry(state), pending);
	assert_ptr_equal(mirror_table_get(table, "digits-worker-1"), pending);
	assert_null(mirror_table_get(table, "digits-worker-0"));
	assert_int_equal(table->count, 1);
}

TEST_WITH(set_up, tear_down, an_entry_stays_for_as_long_as_something_is_under_way)
{
	struct mirror_table *table = *state;
	struct pending *pending = entry(state);

	pending->start = PENDING_START_WAITS;
	pending->ended_uid = mem_copy_text("old");
	pending_drop_end(pending);
	pending_drop_if_idle(table, pending);
	assert_int_equal(table->count, 1);
	pending_drop_start(pending);
	pending_drop_if_idle(table, pending);
	assert_int_equal(table->count, 0);
}

TEST_WITH(set_up, tear_down, what_was_started_is_starting)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct pending *pending = entry(state);

	pending->start = PENDING_START_CALLED;
	pending->attempt = 2;
	const struct observed_replica seen = pending_observe_start(pending, arena);

	assert_string_equal(seen.role, "worker");
	assert_int_equal(seen.index, 1);
	assert_int_equal(seen.attempt, 2);
	assert_int_equal(seen.phase, OBSERVED_STARTING);
	assert_null(seen.reason);
	assert_false(observed_was_asked_to_end(&seen));
	assert_false(seen.is_unmade); /* the server may have made it by now */
}

TEST_WITH(set_up, tear_down, a_start_that_is_refused_says_why_and_goes_on)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct pending *pending = entry(state);

	pending->start = PENDING_START_REFUSED;
	pending->refusal_reason = "ExceededQuota";
	pending->refusal = mem_copy_text("exceeded quota");
	const struct observed_replica seen = pending_observe_start(pending, arena);

	assert_int_equal(seen.phase, OBSERVED_STARTING);
	assert_string_equal(seen.reason, "ExceededQuota");
	assert_string_equal(seen.message, "exceeded quota");
	assert_true(seen.is_unmade);
}

TEST_WITH(set_up, tear_down, a_start_that_is_impossible_has_failed)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct pending *pending = entry(state);

	pending->start = PENDING_START_IMPOSSIBLE;
	pending->refusal = mem_copy_text("spec is invalid");
	const struct observed_replica seen = pending_observe_start(pending, arena);

	assert_int_equal(seen.phase, OBSERVED_FAILED);
	assert_string_equal(seen.reason, "Refused");
}

TEST_WITH(set_up, tear_down, a_start_that_nobody_wants_any_more_is_asked_to_end)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct pending *pending = entry(state);

	pending->start = PENDING_START_CALLED;
	pending->is_unwanted = true;
	pending->asked_at = NOW;
	pending->kill_at = NOW + 5000;
	const struct observed_replica seen = pending_observe_start(pending, arena);

	assert_int_equal(seen.stop_asked_at, NOW);
	assert_int_equal(seen.kill_at, NOW + 5000);
	assert_false(seen.is_killed);
}

/* Of the Pod that is seen. */
static void lay_end_over(void **state, msec kill_at, struct observed_replica *seen)
{
	struct pending *pending = entry(state);

	pending->ended_uid = mem_copy_text("this");
	pending->asked_at = NOW;
	pending->kill_at = kill_at;
	assert_true(pending_lay_over(pending, "this", seen));
}

TEST_WITH(set_up, tear_down, an_end_is_seen_before_the_mirror_shows_it)
{
	struct observed_replica seen = {.phase = OBSERVED_RUNNING};

	lay_end_over(state, NOW + 30000, &seen);
	assert_int_equal(seen.stop_asked_at, NOW);
	assert_int_equal(seen.kill_at, NOW + 30000);
}

TEST_WITH(set_up, tear_down, the_end_of_another_pod_of_that_name_says_nothing)
{
	struct observed_replica seen = {.phase = OBSERVED_RUNNING};
	struct pending *pending = entry(state);

	pending->ended_uid = mem_copy_text("the one before");
	pending->is_removed = true;
	assert_true(pending_lay_over(pending, "this", &seen));
	assert_false(observed_was_asked_to_end(&seen));
	assert_true(pending_lay_over(NULL, "this", &seen));
}

TEST_WITH(set_up, tear_down, a_kill_makes_the_time_that_a_stop_left_shorter)
{
	struct observed_replica seen = {.stop_asked_at = NOW - 1000, .kill_at = NOW + 29000};

	lay_end_over(state, NOW, &seen);
	assert_int_equal(seen.stop_asked_at, NOW - 1000);
	assert_int_equal(seen.kill_at, NOW);
	assert_true(seen.is_killed);
}

/* A grace that is made shorter then counts from the same moment. */
TEST_WITH(set_up, tear_down, an_end_was_asked_for_when_it_was_however_the_clock_of_the_server_goes)
{
	struct observed_replica seen = {.stop_asked_at = NOW + 20000, .kill_at = NOW + 50000};

	lay_end_over(state, NOW + 30000, &seen);
	assert_int_equal(seen.stop_asked_at, NOW);
	assert_int_equal(seen.kill_at, NOW + 30000);
}

TEST_WITH(set_up, tear_down, what_was_removed_is_seen_no_more)
{
	struct observed_replica seen = {.phase = OBSERVED_FAILED};
	struct pending *pending = entry(state);

	pending->ended_uid = mem_copy_text("this");
	pending->is_removed = true;
	assert_false(pending_lay_over(pending, "this", &seen));
}
