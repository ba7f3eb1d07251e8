/* Which changes of a job's size start all of it again. */
#include "unit.h"

#include "reconcile/resize.h"
#include "scene.h"

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

TEST_WITH(scene_begin, scene_end, peers_that_run_start_again_with_all_their_time)
{
	struct scene *scene = *state;

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
TEST_WITH(scene_begin, scene_end, a_failure_before_does_not_shorten_it)
{
	struct scene *scene = *state;
	struct role *worker = run_two_workers(scene, RESTART_SCOPE_JOB);

	scene->job.backoff_limit = 1;
	scene_exit(scene, "worker", 1, 0, 3, 0);
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, MSEC_PER_SECOND);
	scene_object(scene, "worker", 0, 0)->phase = OBSERVED_SUCCEEDED;
	scene_settle(scene);
	worker->replicas = 1;
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "worker", 0)->grace, scene->job.grace);
	assert_int_equal(scene->status.restarts, 1);
	assert_null(scene->status.failure);
}

TEST_WITH(scene_begin, scene_end, those_that_need_not_know_of_each_other_stay)
{
	struct scene *scene = *state;

	run_two_workers(scene, RESTART_SCOPE_REPLICA)->replicas = 3;
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 2)->state, REPLICA_RUNNING);
}

TEST_WITH(scene_begin, scene_end, dynamic_workers_stay_whatever_the_scope)
{
	struct scene *scene = *state;

	scene->job.is_dynamic = true;
	run_two_workers(scene, RESTART_SCOPE_JOB)->replicas = 1;
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
}

/* What kubectl applied runs already when it is looked at for the first time. */
TEST_WITH(scene_begin, scene_end, what_nobody_decided_on_before_is_no_change)
{
	struct scene *scene = *state;
	const struct action first = {.role = "worker", .index = 0};

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_start(scene, &first);
	scene_settle(scene);
	assert_int_equal(scene_replica(scene, "worker", 0)->attempt, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_RUNNING);
}

/* It was over before it was scaled away, but who wants it back wants it to run. */
TEST_WITH(scene_begin, scene_end, what_comes_back_runs_again)
{
	struct scene *scene = *state;
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
