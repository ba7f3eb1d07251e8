/* The recipe: one decision at a time. Whole stories stand in tests/scenario. */
#include "unit.h"

#include "scene.h"

SCENE_TEST(the_outcome_of_a_plan_asks_for_nothing_more)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_int_equal(scene->plan.n_notes, 0);
	assert_false(scene->plan.is_status_changed);
	assert_true(scene->plan.wake_at == MSEC_NEVER);
	assert_true(status_condition_is_true(&scene->status, CONDITION_RUNNING));
}

SCENE_TEST(nothing_is_done_for_a_finished_job_that_left_nothing)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_true(scene->plan.is_job_drained);
	assert_int_equal(scene->observed.n_replicas, 0);
	assert_int_equal(scene->observed.n_addresses, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->exit_code, 0);
	scene->now += 1000000;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_false(scene->plan.is_status_changed);
}

SCENE_TEST(a_suspended_job_shows_no_active_replica_at_once)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	assert_int_equal(scene->status.roles[0].active, 2);
	scene->job.is_suspended = true;
	scene_decide(scene);
	assert_int_equal(scene->status.roles[0].active, 0);
	assert_true(status_condition_is_true(&scene->status, CONDITION_SUSPENDED));
	assert_string_equal(scene_message(scene, CONDITION_SUSPENDED), "TFJob j is suspended.");
	assert_string_equal(status_condition(&scene->status, CONDITION_RUNNING)->reason,
			    "TFJobSuspended");
}

SCENE_TEST(a_first_status_knows_every_replica)
{
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

SCENE_TEST(a_job_without_its_supervisor_has_failed_and_its_replicas_have_not)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	reconcile_lost(&scene->job, &scene->status, RECONCILE_SUPERVISOR_LOST, "muster was killed",
		       scene->now + 5, scene->arena, &scene->plan);
	scene->status = scene->plan.status;
	assert_true(scene->plan.is_status_changed);
	assert_string_equal(status_condition(&scene->status, CONDITION_FAILED)->reason,
			    "TFJobSupervisorLost");
	assert_string_equal(scene->status.failure->message, "muster was killed");
	assert_int_equal(scene->status.exit_code, 125);
	assert_int_equal(scene->status.roles[0].active, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_STOPPED);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 0);
}

SCENE_TEST(nobody_waits_for_a_start_without_a_supervisor)
{
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	reconcile_begin(&scene->job, scene->now, scene->arena, &scene->status);
	reconcile_lost(&scene->job, &scene->status, RECONCILE_SUPERVISOR_LOST, "muster was killed",
		       scene->now + 5, scene->arena, &scene->plan);
	assert_int_equal(scene->plan.status.replicas[0].state, REPLICA_STOPPED);
}
