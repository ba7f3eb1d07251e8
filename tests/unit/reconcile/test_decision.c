/* The working table of a decision, and TFJob's rules for conditions. */
#include "unit.h"

#include "reconcile/decision.h"
#include "scene.h"

#include <limits.h>

static struct decision begin(struct scene *scene)
{
	struct decision decision;

	decision_begin(&decision, &scene->job, &scene->status, &scene->observed, scene->now,
		       scene->arena, &scene->plan);
	return decision;
}

static void set(struct scene *scene, enum condition_type type, bool is_true, const char *reason)
{
	struct decision decision = begin(scene);

	decision.status = &scene->plan.status;
	decision_set_condition(&decision, type, is_true, reason, "a sentence");
	scene->status = scene->plan.status;
}

SCENE_TEST(the_same_condition_changes_nothing)
{
	set(scene, CONDITION_RUNNING, true, "TFJobRunning");
	scene->now += 1000;
	set(scene, CONDITION_RUNNING, true, "TFJobRunning");
	assert_int_equal(scene->status.n_conditions, 1);
	assert_int_equal(scene->status.conditions[0].last_update, SCENE_NOW);
}

SCENE_TEST(another_reason_keeps_the_time_of_transition)
{
	set(scene, CONDITION_SUSPENDED, true, "One");
	scene->now += 1000;
	set(scene, CONDITION_SUSPENDED, true, "Two");
	assert_int_equal(scene->status.n_conditions, 1);
	assert_int_equal(scene->status.conditions[0].last_transition, SCENE_NOW);
	assert_int_equal(scene->status.conditions[0].last_update, SCENE_NOW + 1000);
}

SCENE_TEST(what_changed_stands_last)
{
	set(scene, CONDITION_SUSPENDED, true, "TFJobSuspended");
	set(scene, CONDITION_CREATED, true, "TFJobCreated");
	set(scene, CONDITION_SUSPENDED, false, "TFJobResumed");
	assert_int_equal(scene->status.conditions[0].type, CONDITION_CREATED);
	assert_int_equal(scene->status.conditions[1].type, CONDITION_SUSPENDED);
}

SCENE_TEST(running_and_restarting_remove_each_other)
{
	set(scene, CONDITION_RUNNING, true, "TFJobRunning");
	set(scene, CONDITION_RESTARTING, true, "TFJobRestarting");
	assert_null(status_condition(&scene->status, CONDITION_RUNNING));
	set(scene, CONDITION_RUNNING, true, "TFJobRunning");
	assert_null(status_condition(&scene->status, CONDITION_RESTARTING));
}

SCENE_TEST(nothing_changes_once_a_job_has_failed)
{
	set(scene, CONDITION_FAILED, true, "TFJobFailed");
	set(scene, CONDITION_SUCCEEDED, true, "TFJobSucceeded");
	assert_int_equal(scene->status.n_conditions, 1);
}

SCENE_TEST(replicas_are_found_by_role_and_index)
{
	scene_add_role(scene, ROLE_PS, 2, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 3, RESTART_NEVER);
	struct decision decision = begin(scene);

	assert_int_equal(decision.n_replicas, 5);
	assert_ptr_equal(decision_find(&decision, "worker", 2), &decision.replicas[4]);
	assert_ptr_equal(decision_find(&decision, "ps", 0), &decision.replicas[0]);
	assert_null(decision_find(&decision, "ps", 2));
	assert_null(decision_find(&decision, "ps", -1));
	assert_null(decision_find(&decision, "chief", 0));
}

SCENE_TEST(what_is_remembered_is_not_lost_by_a_scale_down)
{
	scene_run(scene, ROLE_WORKER, 3, RESTART_NEVER);
	scene->roles[0].replicas = 1;
	struct decision decision = begin(scene);

	assert_int_equal(decision.n_replicas, 3);
	assert_false(decision.replicas[2].is_wanted);
	assert_int_equal(decision.replicas[2].last_state, REPLICA_RUNNING);
}

SCENE_TEST(a_status_written_by_hand_does_no_harm)
{
	struct replica_status replicas[] = {
		{.role = "worker", .index = -1},
		{.role = "worker", .index = INT_MAX, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 0, .attempt = 3},
		{.role = "", .index = 0},
	};

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->status.replicas = replicas;
	scene->status.n_replicas = ARRAY_LEN(replicas);
	struct decision decision = begin(scene);

	assert_int_equal(decision.n_replicas, 4);
	assert_int_equal(decision.replicas[0].status->attempt, 3);
	assert_null(decision.replicas[1].role);
	scene_settle(scene);
	assert_non_null(scene_object(scene, "worker", 0, 3));
}

SCENE_TEST(what_runs_under_a_status_without_replicas_runs_on)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_object(scene, "worker", 1, 0)->attempt = 2;
	scene->status.n_replicas = 0;
	scene_settle(scene);
	assert_int_equal(scene->observed.n_replicas, 2);
	assert_non_null(scene_object(scene, "worker", 0, 0));
	assert_non_null(scene_object(scene, "worker", 1, 2));
	assert_int_equal(scene->status.replicas[1].attempt, 2);
	assert_int_equal(scene->status.replicas[1].state, REPLICA_RUNNING);
}
