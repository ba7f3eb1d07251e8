/* Addresses and starts. */
#include "unit.h"

#include "base/exit_code.h"
#include "scene.h"

SCENE_TEST(addresses_come_before_the_first_start)
{
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 2);
	assert_non_null(scene_action(scene, ACTION_PUBLISH, "worker", 0));
	assert_non_null(scene_action(scene, ACTION_PUBLISH, "worker", 1));
	scene_apply(scene, &scene->plan.actions[0]);
	scene_decide(scene);
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
}

SCENE_TEST(everybody_starts_once_all_addresses_are_known)
{
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

/* The job's clock begins with its first Pod. */
SCENE_TEST(nobody_starts_before_a_scheduler_lets_the_job_in)
{
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_decide(scene);
	scene_apply(scene, &scene->plan.actions[0]);
	scene->observed.holds_starts = true;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_int_equal(scene->status.start_time, MSEC_UNSET);
	scene->observed.holds_starts = false;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_START, "worker", 0));
}

static const char *only_note(const struct scene *scene)
{
	assert_int_equal(scene->plan.n_notes, 1);
	return scene->plan.notes[0].sentence;
}

/* Nor does a job in a queue take ports or GPUs. */
SCENE_TEST(nothing_is_done_for_a_job_in_a_queue)
{
	const struct observed_queue for_gpus = {.awaited = "2 GPUs", .details = "job 'a' holds 0"};
	const struct observed_queue for_job = {.awaited = "job 'a' to end", .details = ""};

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.active_deadline = 5 * MSEC_PER_SECOND;
	scene->observed.queue = &for_job;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_string_equal(only_note(scene), "job 'j' waits for job 'a' to end");
	scene->now += 10 * MSEC_PER_SECOND;
	scene->observed.queue = &for_gpus;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
	assert_string_equal(only_note(scene), "job 'j' waits for 2 GPUs: job 'a' holds 0");
	scene_decide(scene);
	assert_int_equal(scene->plan.n_notes, 0);
	assert_false(scene->plan.is_status_changed);
	assert_int_equal(scene->status.start_time, MSEC_UNSET);
	scene->observed.queue = NULL;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_PUBLISH, "worker", 0));
	assert_false(status_condition_is_true(&scene->status, CONDITION_QUEUED));
}

SCENE_TEST(a_job_that_waits_in_vain_fails)
{
	const struct observed_queue vain = {.vain = "job 'a' was deleted"};

	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->observed.queue = &vain;
	scene_decide(scene);
	assert_true(status_condition_is_true(&scene->status, CONDITION_FAILED));
	assert_int_equal(scene->status.exit_code, EXIT_INTERNAL);
	assert_string_equal(scene->status.failure->message, "job 'a' was deleted");
}

SCENE_TEST(a_start_that_was_not_seen_is_planned_again)
{
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_decide(scene);
	scene_apply(scene, &scene->plan.actions[0]);
	scene_decide(scene);
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_START, "worker", 0)->attempt, 0);
	assert_false(scene->plan.is_status_changed);
}

SCENE_TEST(a_leftover_blocks_its_successor_where_names_are_taken)
{
	scene->observed.traits = (struct backend_traits){0};
	scene_run(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "worker", 0));
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
}

SCENE_TEST(an_ended_leftover_does_not_block_where_names_carry_the_attempt)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	assert_int_equal(scene_action(scene, ACTION_START, "worker", 0)->attempt, 1);
}

SCENE_TEST(no_replica_meets_a_peer_of_an_old_attempt)
{
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene_exit_and_settle(scene, "worker", 1, 0, 1, 0);
	assert_null(scene_object(scene, "worker", 1, 1));
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 15);
	assert_non_null(scene_object(scene, "worker", 0, 1));
	assert_non_null(scene_object(scene, "worker", 1, 1));
}
