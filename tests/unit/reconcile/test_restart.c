/* Policies, scopes, limits and delays of restarts. */
#include "unit.h"

#include "reconcile/steps.h"
#include "scene.h"
#include "spec/limits.h"
#include "status/restart_delay.h"

/* One worker of this policy that has ended; what the decision makes of it. */
static void end_one_worker(struct scene *scene, enum restart_policy policy, int exit_code,
			   int signal)
{
	scene_run(scene, ROLE_WORKER, 1, policy);
	scene->now += 2000;
	scene_exit_and_decide(scene, "worker", 0, 0, exit_code, signal);
}

static bool is_restarting(const struct scene *scene)
{
	return scene_replica(scene, "worker", 0)->attempt == 1 &&
	       status_condition_is_true(&scene->status, CONDITION_RESTARTING);
}

SCENE_TEST(never_fails_the_job)
{
	end_one_worker(scene, RESTART_NEVER, 3, 0);
	assert_false(is_restarting(scene));
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "TFJob default/j has failed because 1 Worker replica(s) failed.");
	assert_int_equal(scene->status.exit_code, 3);
}

SCENE_TEST(on_failure_restarts_failures)
{
	end_one_worker(scene, RESTART_ON_FAILURE, 3, 0);
	assert_true(is_restarting(scene));
	assert_string_equal(scene_message(scene, CONDITION_RESTARTING),
			    "job j is restarting because Worker replica(s) failed.");
	assert_int_equal(scene->status.restarts, 1);
	assert_int_equal(scene_replica(scene, "worker", 0)->restarts, 1);
}

SCENE_TEST(on_failure_does_not_restart_success)
{
	end_one_worker(scene, RESTART_ON_FAILURE, 0, 0);
	assert_true(status_condition_is_true(&scene->status, CONDITION_SUCCEEDED));
}

SCENE_TEST(always_restarts_success_too)
{
	end_one_worker(scene, RESTART_ALWAYS, 0, 0);
	assert_true(is_restarting(scene));
}

/* A kubelet that starts worker 0 again in its Pod, which has ended so often. */
static void end_in_place(struct scene *scene, int n_ends, int exit_code)
{
	struct observed_replica *object = scene_object(scene, "worker", 0, 0);

	scene->now += 2000;
	object->n_ends_in_place = n_ends;
	object->last_end = (struct observed_end){
		.exit_code = exit_code, .started_at = scene->now - 1500, .ended_at = scene->now};
	scene_decide(scene);
}

SCENE_TEST(a_restart_by_the_node_is_counted_and_nobody_is_started)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	end_in_place(scene, 1, 3);
	assert_int_equal(scene->status.restarts, 1);
	assert_int_equal(scene_replica(scene, "worker", 0)->restarts, 1);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->state, REPLICA_RUNNING);
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
	assert_string_equal(scene->status.failure->message,
			    "worker-0 exited with code 3 after 1s (attempt 0)");
	assert_int_equal(scene->status.failure->n_consequences, 0);
	scene_decide(scene);
	assert_int_equal(scene->status.restarts, 1);
	end_in_place(scene, 4, 3);
	assert_int_equal(scene->status.restarts, 4);
}

SCENE_TEST(restarts_by_the_node_end_the_job_at_its_limit)
{
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene->job.backoff_limit = 1;
	scene_settle(scene);
	end_in_place(scene, 1, 3);
	assert_false(status_is_finished(&scene->status));
	end_in_place(scene, 2, 4);
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "Job j has failed because it has reached the specified backoff limit");
	assert_int_equal(scene->status.exit_code, 4);
	assert_int_equal(scene_replica(scene, "worker", 0)->state, REPLICA_STOPPING);
}

SCENE_TEST(a_node_cannot_count_too_far)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	end_in_place(scene, LIMIT_RESTARTS, 3);
	scene_object(scene, "worker", 1, 0)->n_ends_in_place = LIMIT_RESTARTS;
	scene_decide(scene);
	assert_int_equal(scene->status.restarts, LIMIT_RESTARTS);
}

SCENE_TEST(exit_code_127_is_permanent)
{
	end_one_worker(scene, RESTART_EXIT_CODE, 127, 0);
	assert_false(is_restarting(scene));
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "job \"j\" is failing because \"Worker\" replica(s) failed.");
	assert_int_equal(scene->plan.n_notes, 2);
	assert_int_equal(scene->plan.notes[0].level, NOTE_WARNING);
	assert_int_equal(scene->plan.notes[1].level, NOTE_NORMAL);
}

SCENE_TEST(exit_code_128_is_tried_again)
{
	end_one_worker(scene, RESTART_EXIT_CODE, 128, 0);
	assert_true(is_restarting(scene));
}

SCENE_TEST(a_signal_is_tried_again_under_exit_code)
{
	end_one_worker(scene, RESTART_EXIT_CODE, 0, 9);
	assert_true(is_restarting(scene));
}

SCENE_TEST(a_replica_that_disappeared_is_tried_again)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_EXIT_CODE);
	scene->observed.n_replicas = 0;
	scene_decide(scene);
	assert_true(is_restarting(scene));
	assert_string_equal(scene->status.failure->reason, "Lost");
}

SCENE_TEST(a_whole_restart_is_charged_once)
{
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene->job.backoff_limit = 1;
	scene_run(scene, ROLE_WORKER, 3, RESTART_ON_FAILURE);
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_decide(scene, "worker", 2, 0, 1, 0);
	assert_int_equal(scene->status.restarts, 1);
	for (int index = 0; index < 3; index++)
		assert_int_equal(scene_replica(scene, "worker", index)->attempt, 1);
}

SCENE_TEST(single_restarts_are_charged_each)
{
	scene->job.backoff_limit = 2;
	scene_run(scene, ROLE_WORKER, 3, RESTART_ON_FAILURE);
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_decide(scene, "worker", 2, 0, 1, 0);
	assert_int_equal(scene->status.restarts, 2);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 0);
}

SCENE_TEST(more_failures_than_restarts_left_end_the_job)
{
	scene->job.backoff_limit = 1;
	scene_run(scene, ROLE_WORKER, 3, RESTART_ON_FAILURE);
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_decide(scene, "worker", 2, 0, 1, 0);
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "Job j has failed because it has reached the specified backoff limit");
	assert_int_equal(scene->status.restarts, 0);
}

static void delete_pod(struct scene *scene, const char *role, int index)
{
	struct observed_replica *object = scene_object(scene, role, index, 0);

	object->stop_asked_at = scene->now;
	object->kill_at = scene->now + 30 * MSEC_PER_SECOND;
}

static void begin_tfjob(struct scene *scene)
{
	scene->observed.traits.repeats_attempts = true;
	scene->job.backoff_limit = 0;
}

/* Though one is deleted at the same time. */
SCENE_TEST(a_failure_beside_a_deletion_is_the_one_that_counts)
{
	begin_tfjob(scene);
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	delete_pod(scene, "worker", 0);
	scene->now += MSEC_PER_SECOND;
	scene_exit_and_decide(scene, "worker", 1, 0, 7, 0);
	assert_int_equal(scene->status.exit_code, 7);
	assert_int_equal(scene->status.failure->index, 1);
}

SCENE_TEST(a_lost_ps_counts_though_a_worker_is_deleted)
{
	begin_tfjob(scene);
	scene->job.restart_scope = RESTART_SCOPE_WORKER;
	scene_add_role(scene, ROLE_PS, 1, RESTART_ON_FAILURE);
	scene_run(scene, ROLE_WORKER, 1, RESTART_ON_FAILURE);
	delete_pod(scene, "worker", 0);
	scene->now += MSEC_PER_SECOND;
	scene_exit_and_decide(scene, "ps", 0, 0, 3, 0);
	assert_string_equal(scene_message(scene, CONDITION_FAILED),
			    "Job j has failed because it has reached the specified backoff limit");
	assert_string_equal(scene->status.failure->role, "ps");
}

/* Also where that is seen before the deleted one has ended. */
SCENE_TEST(peers_that_fall_after_a_deletion_do_not_count)
{
	begin_tfjob(scene);
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	delete_pod(scene, "worker", 1);
	scene->now += MSEC_PER_SECOND;
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene->now += MSEC_PER_SECOND;
	scene_decide(scene);
	assert_true(is_restarting(scene));
	assert_int_equal(scene->status.restarts, 0);
	assert_string_equal(scene->status.failure->reason, "Deleted");
}

SCENE_TEST(a_tolerated_failure_is_made_again_when_its_pod_is_gone)
{
	begin_tfjob(scene);
	scene->job.is_dynamic = true;
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit_and_decide(scene, "worker", 1, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_FAILED);
	scene->observed.n_replicas = 1;
	scene_decide(scene);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 1);
	assert_int_equal(scene->status.restarts, 0);
}

SCENE_TEST(under_scope_worker_a_lost_ps_restarts_all)
{
	scene->job.restart_scope = RESTART_SCOPE_WORKER;
	scene_add_role(scene, ROLE_PS, 1, RESTART_ON_FAILURE);
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene_exit_and_settle(scene, "worker", 1, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 1);
	scene_exit_and_decide(scene, "ps", 0, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 1);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 2);
}

SCENE_TEST(peers_of_a_synchronous_job_fall_with_the_first)
{
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_run(scene, ROLE_WORKER, 2, RESTART_EXIT_CODE);
	scene_exit(scene, "worker", 1, 0, 0, 9);
	scene->now += 5;
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	assert_true(status_condition_is_true(&scene->status, CONDITION_RESTARTING));
	assert_int_equal(scene->status.failure->index, 1);
	assert_int_equal(scene->status.failure->n_consequences, 1);
	assert_string_equal(scene->status.failure->consequences[0].what, "exited with code 1");
}

TEST_WITH(scene_begin, scene_end, delays_double_up_to_a_minute)
{
	const msec expected[] = {0, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};

	for (int recent = 0; recent < (int) ARRAY_LEN(expected); recent++)
		assert_int_equal(restart_delay(recent), expected[recent]);
	assert_int_equal(restart_delay(1000000), 60000);
}

/* A worker that is restarted alone and fell `recent` times already in a row. */
static void begin_with_recent_restarts(struct scene *scene, int n_workers, int recent)
{
	scene_run(scene, ROLE_WORKER, n_workers, RESTART_ON_FAILURE);
	scene->status.replicas[0].recent_restarts = recent;
}

SCENE_TEST(nothing_starts_before_the_delay_is_over)
{
	begin_with_recent_restarts(scene, 1, 3);
	scene_exit_and_settle(scene, "worker", 0, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->restart_at, scene->now + 4000);
	assert_int_equal(scene->plan.wake_at, scene->now + 4000);
	assert_null(scene_object(scene, "worker", 0, 1));
	scene->now += 4000;
	scene_settle(scene);
	assert_non_null(scene_object(scene, "worker", 0, 1));
	assert_int_equal(scene_replica(scene, "worker", 0)->restart_at, MSEC_UNSET);
}

SCENE_TEST(a_clock_that_was_set_back_does_not_hold_a_restart_up)
{
	begin_with_recent_restarts(scene, 1, 3);
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	scene->now -= 3600 * MSEC_PER_SECOND;
	scene_settle(scene);
	assert_non_null(scene_object(scene, "worker", 0, 1));
}

SCENE_TEST(a_long_life_begins_the_delays_anew)
{
	begin_with_recent_restarts(scene, 1, 5);
	scene->now += RESTART_LONG_LIFE;
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->restart_at, MSEC_UNSET);
	assert_int_equal(scene_replica(scene, "worker", 0)->recent_restarts, 1);
}

SCENE_TEST(one_that_falls_again_and_again_delays_nobody_else)
{
	begin_with_recent_restarts(scene, 2, 6);
	scene_exit_and_settle(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_settle(scene, "worker", 1, 0, 1, 0);
	assert_null(scene_object(scene, "worker", 0, 1));
	assert_non_null(scene_object(scene, "worker", 1, 1));
	assert_int_equal(scene->plan.wake_at, scene->now + 32000);
}

SCENE_TEST(the_long_life_of_another_begins_no_delay_anew)
{
	begin_with_recent_restarts(scene, 2, 6);
	scene->now += RESTART_LONG_LIFE;
	scene_exit_and_settle(scene, "worker", 1, 0, 1, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->recent_restarts, 6);
	assert_int_equal(scene->status.recent_restarts, 0);
}

SCENE_TEST(each_that_falls_in_one_moment_has_a_delay_of_its_own)
{
	begin_with_recent_restarts(scene, 2, 2);
	scene->now += 3000;
	scene_exit(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_decide(scene, "worker", 1, 0, 1, 0);
	assert_string_equal(scene->plan.notes[0].sentence,
			    "worker-0 exited with code 1 after 3s (attempt 0): restarting it in "
			    "2s (restart 1)");
	assert_string_equal(scene->plan.notes[1].sentence,
			    "worker-1 exited with code 1 after 3s (attempt 0): restarting it "
			    "(restart 2)");
	assert_non_null(scene_action(scene, ACTION_START, "worker", 1));
	assert_null(scene_action(scene, ACTION_START, "worker", 0));
}

SCENE_TEST(a_whole_job_starts_again_at_one_moment)
{
	scene->job.restart_scope = RESTART_SCOPE_WORKER;
	scene_add_role(scene, ROLE_PS, 1, RESTART_ON_FAILURE);
	begin_with_recent_restarts(scene, 2, 0);
	scene->status.recent_restarts = 2;
	scene->status.replicas[1].recent_restarts = 6;
	scene_exit_and_settle(scene, "worker", 0, 0, 1, 0);
	scene_exit_and_decide(scene, "ps", 0, 0, 1, 0);
	for (size_t i = 0; i < scene->status.n_replicas; i++) {
		assert_int_equal(scene->status.replicas[i].restart_at, scene->now + 2000);
		assert_int_equal(scene->status.replicas[i].recent_restarts, 0);
	}
	assert_int_equal(scene->status.recent_restarts, 3);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 1);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 1);
}

SCENE_TEST(a_job_that_has_ended_waits_for_no_restart)
{
	begin_with_recent_restarts(scene, 2, 6);
	scene_exit_and_settle(scene, "worker", 0, 0, 1, 0);
	scene->job.stop_reason = stop_reason_words[STOP_REQUESTED];
	scene_decide(scene);
	scene_exit_and_decide(scene, "worker", 1, 0, 0, 15);
	assert_true(status_is_finished(&scene->status));
	assert_int_equal(scene_replica(scene, "worker", 0)->restart_at, MSEC_UNSET);
}

/* Which changes of a job's size start all of it again. */

/* A job of two workers that run. */
static struct role *run_two_workers(struct scene *scene, enum restart_scope scope)
{
	struct role *worker = scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);

	scene->job.restart_scope = scope;
	scene->job.backoff_limit = 0;
	scene_settle(scene);
	scene->now += 20 * MSEC_PER_SECOND;
	return worker;
}

SCENE_TEST(peers_that_run_start_again_with_all_their_time)
{
	run_two_workers(scene, RESTART_SCOPE_JOB)->replicas = 3;
	scene_decide(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 1);
	assert_int_equal(scene_replica(scene, "worker", 2)->attempt, 0);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 1)->grace, scene->job.grace);
	assert_int_equal(scene->status.restarts, 0);
	assert_int_equal(scene_replica(scene, "worker", 0)->restarts, 0);
	assert_null(scene_action(scene, ACTION_START, "worker", 2));
	assert_string_equal(scene_message(scene, CONDITION_RESTARTING),
			    "job j is restarting because it was scaled.");
	assert_string_equal(scene->plan.notes[0].sentence,
			    "the job was scaled to worker=3: restarting all replicas; the running "
			    "processes have 30s to exit");
}

/* The grace is that of a planned end, however short that of the failure before was. */
SCENE_TEST(a_failure_before_does_not_shorten_it)
{
	struct role *worker = run_two_workers(scene, RESTART_SCOPE_JOB);

	scene->job.backoff_limit = 1;
	scene_exit_and_decide(scene, "worker", 1, 0, 3, 0);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, MSEC_PER_SECOND);
	scene_object(scene, "worker", 0, 0)->phase = OBSERVED_SUCCEEDED;
	scene_settle(scene);
	worker->replicas = 1;
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, scene->job.grace);
	assert_int_equal(scene->status.restarts, 1);
	assert_null(scene->status.failure);
}

SCENE_TEST(those_that_need_not_know_of_each_other_stay)
{
	run_two_workers(scene, RESTART_SCOPE_REPLICA)->replicas = 3;
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 2)->state, REPLICA_RUNNING);
}

SCENE_TEST(dynamic_workers_stay_whatever_the_scope)
{
	scene->job.is_dynamic = true;
	run_two_workers(scene, RESTART_SCOPE_JOB)->replicas = 1;
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
}

/* What kubectl applied runs already when it is looked at for the first time. */
SCENE_TEST(what_nobody_decided_on_before_is_no_change)
{
	const struct action first = {.role = "worker", .index = 0};

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_start(scene, &first);
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_RUNNING);
}

/* It was over before it was scaled away, but who wants it back wants it to run. */
SCENE_TEST(what_comes_back_runs_again)
{
	struct role *worker = run_two_workers(scene, RESTART_SCOPE_REPLICA);

	scene_exit(scene, "worker", 1, 0, 3, 0);
	worker->replicas = 1;
	scene_settle(scene);
	worker->replicas = 2;
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 1)->attempt, 1);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_RUNNING);
	assert_int_equal(scene->status.restarts, 0);
}
