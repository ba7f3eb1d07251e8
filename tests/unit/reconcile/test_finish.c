/* When a job has come to its end, how that is said, and what is cleaned away. */
#include "unit.h"

#include "reconcile/finish.h"
#include "scene.h"

static bool has_succeeded(const struct scene *scene)
{
	return status_condition_is_true(&scene->status, CONDITION_SUCCEEDED);
}

SCENE_TEST(the_chief_decides_alone)
{
	scene_add_role(scene, ROLE_CHIEF, 1, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.success_policy = SUCCESS_ALL_WORKERS;
	scene_settle(scene);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_false(has_succeeded(scene));
	scene_exit_and_decide(scene, "chief", 0, 0, 0, 0);
	assert_true(has_succeeded(scene));
	assert_string_equal(scene_message(scene, CONDITION_SUCCEEDED),
			    "TFJob default/j successfully completed.");
	assert_int_equal(scene->status.exit_code, 0);
	assert_int_equal(scene->status.completion_time, scene->now);
}

SCENE_TEST(every_chief_has_to_succeed)
{
	scene_run(scene, ROLE_CHIEF, 2, RESTART_NEVER);
	scene_exit_and_settle(scene, "chief", 0, 0, 0, 0);
	assert_false(has_succeeded(scene));
	scene_exit_and_decide(scene, "chief", 1, 0, 0, 0);
	assert_true(has_succeeded(scene));
}

SCENE_TEST(worker_0_decides_where_there_is_no_chief)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 1, 0, 0, 0);
	assert_false(has_succeeded(scene));
	scene_exit_and_decide(scene, "worker", 0, 0, 0, 0);
	assert_true(has_succeeded(scene));
}

SCENE_TEST(all_workers_may_be_asked_for)
{
	scene->job.success_policy = SUCCESS_ALL_WORKERS;
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_false(has_succeeded(scene));
	scene_exit_and_decide(scene, "worker", 1, 0, 0, 0);
	assert_true(has_succeeded(scene));
}

SCENE_TEST(servers_alone_succeed_when_all_have)
{
	scene_add_role(scene, ROLE_EVALUATOR, 1, RESTART_NEVER);
	scene_run(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "ps", 0, 0, 0, 0);
	assert_false(has_succeeded(scene));
	scene_exit_and_decide(scene, "evaluator", 0, 0, 0, 0);
	assert_true(has_succeeded(scene));
}

SCENE_TEST(success_wins_over_a_failure_of_the_same_moment)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit(scene, "ps", 0, 0, 1, 0);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_true(has_succeeded(scene));
	assert_null(status_condition(&scene->status, CONDITION_FAILED));
	assert_null(scene->status.failure);
}

SCENE_TEST(no_condition_changes_after_the_end)
{
	scene->observed.traits = (struct backend_traits){.kills_after_grace = true};
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 1, 0, 1, 0);
	size_t n_conditions = scene->status.n_conditions;

	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->state, REPLICA_SUCCEEDED);
	assert_int_equal(scene->status.n_conditions, n_conditions);
	assert_false(has_succeeded(scene));
	assert_int_equal(scene->status.exit_code, 1);
}

SCENE_TEST(the_end_turns_running_to_false_and_keeps_its_reason)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->now += 1000;
	scene_exit_and_decide(scene, "worker", 0, 0, 0, 0);
	const struct condition *running = status_condition(&scene->status, CONDITION_RUNNING);

	assert_false(running->is_true);
	assert_string_equal(running->reason, "TFJobRunning");
	assert_int_equal(running->last_transition, scene->now);
	assert_int_equal(scene->status.conditions[2].type, CONDITION_SUCCEEDED);
}

SCENE_TEST(the_deadline_has_a_timer)
{
	scene->job.active_deadline = 60000;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	assert_int_equal(scene->plan.wake_at, scene->now + 60000);
	scene->now += 60000;
	scene_decide(scene);
	assert_string_equal(
		scene_message(scene, CONDITION_FAILED),
		"Job j has failed because it was active longer than specified deadline");
	assert_int_equal(scene->status.exit_code, 124);
	assert_string_equal(scene->status.failure->reason, "DeadlineExceeded");
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, scene->job.grace);
}

SCENE_TEST(survivors_of_a_failure_get_a_second)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit_and_decide(scene, "worker", 1, 0, 1, 0);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, 1000);
}

SCENE_TEST(those_whom_success_ends_get_five_seconds)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_decide(scene, "worker", 0, 0, 0, 0);
	assert_int_equal(scene_action(scene, ACTION_STOP, "ps", 0)->grace, 5000);
	assert_int_equal(scene_replica(scene, "ps", 0)->state, REPLICA_STOPPING);
}

SCENE_TEST(a_job_is_stopped_when_its_last_replica_has_ended)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	scene->job.stop_reason = "terminated";
	scene_settle(scene);
	assert_false(status_is_finished(&scene->status));
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 15);
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "TFJob default/j was stopped (terminated).");
	assert_string_equal(status_condition(&scene->status, CONDITION_FAILED)->reason,
			    "TFJobStopped");
	assert_int_equal(scene->status.exit_code, 143);
	assert_null(scene->status.failure->role);
	assert_string_equal(scene->status.failure->reason, "Stopped");
}

SCENE_TEST(what_runs_at_success_counts_as_succeeded)
{
	scene_add_role(scene, ROLE_PS, 2, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_int_equal(scene->status.roles[0].active, 0);
	assert_int_equal(scene->status.roles[0].succeeded, 2);
	scene_exit(scene, "ps", 0, 0, 0, 15);
	scene_exit_and_settle(scene, "ps", 1, 0, 0, 15);
	assert_int_equal(scene->status.roles[0].succeeded, 2);
	assert_int_equal(scene->status.roles[0].failed, 0);
}

SCENE_TEST(an_old_job_is_deleted_in_its_time)
{
	scene->job.ttl_after_finished = 100000;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_false(scene->plan.is_job_expired);
	assert_int_equal(scene->plan.wake_at, scene->now + 100000);
	scene->now += 100000;
	scene_decide(scene);
	assert_true(scene->plan.is_job_expired);
}

SCENE_TEST(on_a_cluster_the_policy_says_what_is_cleaned)
{
	scene->observed.traits = (struct backend_traits){.kills_after_grace = true};
	scene->job.clean_policy = CLEAN_NONE;
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_int_equal(scene->observed.n_replicas, 2);
	assert_true(scene->plan.is_job_drained);
	scene->job.clean_policy = CLEAN_RUNNING;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 1);
	assert_non_null(scene_action(scene, ACTION_STOP, "ps", 0));
	assert_false(scene->plan.is_job_drained);
	scene->job.clean_policy = CLEAN_ALL;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "worker", 0));
}

/* The old operator left one without a completion time when a crash ended it fast. */
SCENE_TEST(a_failed_job_without_a_completion_time_is_kept_as_long)
{
	struct condition failed = {CONDITION_FAILED, true,      "TFJobFailed", "",
				   scene->now,       scene->now};

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.ttl_after_finished = 60 * MSEC_PER_SECOND;
	scene->status.conditions = &failed;
	scene->status.n_conditions = 1;
	assert_false(scene_decide(scene)->is_job_expired);
	assert_int_equal(scene->plan.wake_at, scene->now + 60 * MSEC_PER_SECOND);
	scene->now += 60 * MSEC_PER_SECOND;
	assert_true(scene_decide(scene)->is_job_expired);
}

/* When a finished job is to be deleted. */

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
