/* The recipe: one decision at a time. Whole stories stand in tests/scenario. */
#include "unit.h"

#include "scene.h"

static void addresses_come_before_the_first_start(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 2);
	assert_non_null(scene_action(scene, ACTION_PUBLISH, "worker", 0));
	assert_non_null(scene_action(scene, ACTION_PUBLISH, "worker", 1));
	scene_apply(scene, &scene->plan.actions[0]);
	scene_decide(scene);
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
}

static void everybody_starts_once_all_addresses_are_known(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_decide(scene);
	scene_apply(scene, &scene->plan.actions[0]);
	scene_apply(scene, &scene->plan.actions[1]);
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 2);
	assert_int_equal(scene_action(scene, ACTION_START, "worker", 1)->attempt, 0);
	assert_int_equal(scene->status.start_time, scene->now);
	assert_string_equal(scene_replica(scene, "worker", 1)->address, "here:1");
}

static void a_start_that_was_not_seen_is_planned_again(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_decide(scene);
	scene_apply(scene, &scene->plan.actions[0]);
	scene_decide(scene);
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_START, "worker", 0)->attempt, 0);
	assert_false(scene->plan.is_status_changed);
}

static void the_outcome_of_a_plan_asks_for_nothing_more(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_settle(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_int_equal(scene->plan.n_notes, 0);
	assert_false(scene->plan.is_status_changed);
	assert_true(scene->plan.wake_at == MSEC_NEVER);
	assert_true(status_condition_is_true(&scene->status, CONDITION_RUNNING));
}

static void a_stranger_is_ended_and_removed(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene_start(scene, &(struct action){.role = "foo", .index = 3});
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_STOP, "foo", 3));
	scene_exit(scene, "foo", 3, 0, 0, 15);
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "foo", 3));
	assert_true(status_condition_is_true(&scene->status, CONDITION_RUNNING));
}

static void a_lost_role_is_ended_and_stays_in_the_status(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene->roles[0] = scene->roles[1];
	scene->job.n_roles = 1;
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "ps", 0)->grace, scene->job.grace);
	assert_int_equal(scene_replica(scene, "ps", 0)->state, REPLICA_STOPPING);
	assert_null(scene_action(scene, ACTION_UNPUBLISH, "ps", 0));
	scene_apply(scene, &scene->plan.actions[0]);
	scene_exit(scene, "ps", 0, 0, 0, 15);
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "ps", 0)->state, REPLICA_STOPPED);
	assert_int_equal(scene->observed.n_addresses, 1);
}

static void a_leftover_blocks_its_successor_where_names_are_taken(void **state)
{
	struct scene *scene = *state;

	scene->observed.habits = (struct backend_habits){0};
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	scene_settle(scene);
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "worker", 0));
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
}

static void an_ended_leftover_does_not_block_where_names_carry_the_attempt(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	scene_settle(scene);
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_START, "worker", 0)->attempt, 1);
}

static void no_replica_meets_a_peer_of_an_old_attempt(void **state)
{
	struct scene *scene = *state;

	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene_settle(scene);
	scene_exit(scene, "worker", 1, 0, 1, 0);
	scene_settle(scene);
	assert_null(scene_object(scene, "worker", 1, 1));
	scene_exit(scene, "worker", 0, 0, 0, 15);
	scene_settle(scene);
	assert_non_null(scene_object(scene, "worker", 0, 1));
	assert_non_null(scene_object(scene, "worker", 1, 1));
}

static void a_stop_becomes_a_kill_when_it_is_overdue(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + scene->job.grace);
	scene->now += scene->job.grace;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
}

static void a_back_end_that_kills_by_itself_is_not_told_to(void **state)
{
	struct scene *scene = *state;

	scene->observed.habits.kills_after_grace = true;
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	scene->now += 2 * scene->job.grace;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
}

static void a_grace_that_was_made_shorter_counts(void **state)
{
	struct scene *scene = *state;

	scene->observed.habits.kills_after_grace = true;
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	scene->job.grace = 2 * MSEC_PER_SECOND;
	scene_settle(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + scene->job.grace);
	scene->now += scene->job.grace;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
}

static void without_grace_the_kill_comes_at_once(void **state)
{
	struct scene *scene = *state;

	scene->job.grace = 0;
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene->job.stop_reason = "interrupted";
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
	assert_null(scene_action(scene, ACTION_STOP, "worker", 0));
}

static void stopping_is_written_before_the_stop(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_settle(scene);
	scene->roles[0].replicas = 1;
	scene_decide(scene);
	assert_true(scene->plan.is_status_changed);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_STOPPING);
	assert_non_null(scene_action(scene, ACTION_STOP, "worker", 1));
}

static void an_end_that_was_asked_for_is_no_failure(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_settle(scene);
	scene->roles[0].replicas = 1;
	scene_settle(scene);
	scene_exit(scene, "worker", 1, 0, 143, 0);
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_STOPPED);
	assert_int_equal(scene_replica(scene, "worker", 1)->exit_code, 143);
	assert_false(status_is_finished(&scene->status));
}

static void nothing_is_done_for_a_finished_job_that_left_nothing(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_settle(scene);
	scene_exit(scene, "worker", 0, 0, 0, 0);
	scene_settle(scene);
	assert_true(scene->plan.is_job_drained);
	assert_int_equal(scene->observed.n_replicas, 0);
	assert_int_equal(scene->observed.n_addresses, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->exit_code, 0);
	scene->now += 1000000;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_false(scene->plan.is_status_changed);
}

static void a_suspended_job_shows_no_active_replica_at_once(void **state)
{
	struct scene *scene = *state;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_settle(scene);
	assert_int_equal(scene->status.roles[0].active, 2);
	scene->job.is_suspended = true;
	scene_decide(scene);
	assert_int_equal(scene->status.roles[0].active, 0);
	assert_true(status_condition_is_true(&scene->status, CONDITION_SUSPENDED));
	assert_string_equal(scene_message(scene, CONDITION_SUSPENDED), "TFJob j is suspended.");
	assert_string_equal(status_condition(&scene->status, CONDITION_RUNNING)->reason,
			    "TFJobSuspended");
}

static void a_first_status_knows_every_replica(void **state)
{
	struct scene *scene = *state;
	struct status status;

	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	reconcile_begin(&scene->job, scene->now, scene->arena, &status);
	assert_int_equal(status.n_replicas, 3);
	assert_int_equal(status.replicas[0].state, REPLICA_PENDING);
	assert_int_equal(status.replicas[2].exit_code, -1);
	assert_int_equal(status.n_conditions, 1);
	assert_string_equal(status.conditions[0].message, "TFJob j is created.");
	assert_int_equal(status.exit_code, -1);
	assert_int_equal(status.start_time, MSEC_UNSET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(addresses_come_before_the_first_start),
		SCENE_TEST(everybody_starts_once_all_addresses_are_known),
		SCENE_TEST(a_start_that_was_not_seen_is_planned_again),
		SCENE_TEST(the_outcome_of_a_plan_asks_for_nothing_more),
		SCENE_TEST(a_stranger_is_ended_and_removed),
		SCENE_TEST(a_lost_role_is_ended_and_stays_in_the_status),
		SCENE_TEST(a_leftover_blocks_its_successor_where_names_are_taken),
		SCENE_TEST(an_ended_leftover_does_not_block_where_names_carry_the_attempt),
		SCENE_TEST(no_replica_meets_a_peer_of_an_old_attempt),
		SCENE_TEST(a_stop_becomes_a_kill_when_it_is_overdue),
		SCENE_TEST(a_back_end_that_kills_by_itself_is_not_told_to),
		SCENE_TEST(a_grace_that_was_made_shorter_counts),
		SCENE_TEST(without_grace_the_kill_comes_at_once),
		SCENE_TEST(stopping_is_written_before_the_stop),
		SCENE_TEST(an_end_that_was_asked_for_is_no_failure),
		SCENE_TEST(nothing_is_done_for_a_finished_job_that_left_nothing),
		SCENE_TEST(a_suspended_job_shows_no_active_replica_at_once),
		SCENE_TEST(a_first_status_knows_every_replica),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
