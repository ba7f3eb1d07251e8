/* The line that `ps` shows of a job. */
#include "unit.h"

#include "reconcile/summary.h"
#include "scene.h"

#include <signal.h>

static struct summary summary_of(struct scene *scene)
{
	struct summary summary;

	summary_create(&scene->job, &scene->status, scene->arena, &summary);
	return summary;
}

SCENE_TEST(a_new_job_waits_for_its_replicas)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_NEVER);
	reconcile_begin(&scene->job, scene->now, scene->arena, &scene->status);
	struct summary summary = summary_of(scene);

	assert_string_equal(summary.state, "Created");
	assert_string_equal(summary.roles, "ps=1 worker=2");
	assert_string_equal(summary.message, "waiting for ps-0 and 2 more");
	assert_int_equal(summary.running, 0);
	assert_int_equal(summary.wanted, 3);
	assert_int_equal(summary.exit_code, -1);
	assert_false(summary.is_finished);
}

SCENE_TEST(a_running_job_has_nothing_to_say)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	struct summary summary = summary_of(scene);

	assert_string_equal(summary.state, "Running");
	assert_string_equal(summary.message, "");
	assert_int_equal(summary.running, 2);
}

SCENE_TEST(a_failed_job_says_why)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 3, 0);
	struct summary summary = summary_of(scene);

	assert_string_equal(summary.state, "Failed");
	assert_string_equal(summary.message, "worker-0 exited with code 3 after 0s (attempt 0)");
	assert_int_equal(summary.exit_code, 3);
	assert_true(summary.is_finished);
	scene->status.failure->exception = "ValueError: no";
	assert_string_equal(summary_of(scene).message,
			    "worker-0 exited with code 3 after 0s (attempt 0): ValueError: no");
}

TEST(a_job_without_roles_has_a_summary)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct job job = {.name = "empty"};
	const struct status status = {.exit_code = -1};
	struct summary summary;

	summary_create(&job, &status, arena, &summary);
	assert_string_equal(summary.command, "");
	assert_string_equal(summary.state, "Pending");
}

SCENE_TEST(a_job_that_is_being_stopped_says_so)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	assert_string_equal(summary_of(scene).message, "stopping (interrupted)");
	scene_exit_and_settle(scene, "worker", 0, 0, 0, SIGTERM);
	assert_string_equal(summary_of(scene).state, "Stopped");
	assert_string_equal(summary_of(scene).message, "the job was stopped (interrupted)");
}

SCENE_TEST(a_finished_job_that_is_suspended_does_not_expire)
{
	scene_add_role(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.ttl_after_finished = 60 * MSEC_PER_SECOND;
	scene_settle(scene);
	assert_int_equal(summary_of(scene).expires_at, MSEC_UNSET);
	scene_exit_and_settle(scene, "worker", 0, 0, 0, 0);
	assert_int_equal(summary_of(scene).expires_at,
			 scene->status.completion_time + 60 * MSEC_PER_SECOND);
	scene->job.is_suspended = true;
	assert_int_equal(summary_of(scene).expires_at, MSEC_UNSET);
}

SCENE_TEST(a_summary_is_read_as_it_was_written)
{
	struct summary read;

	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_exit_and_settle(scene, "worker", 0, 0, 3, 0);
	struct summary written = summary_of(scene);
	struct json *value CLEANUP(json_cleanup) = summary_write(&written);

	summary_read(value, scene->arena, &read);
	assert_string_equal(read.state, written.state);
	assert_string_equal(read.roles, written.roles);
	assert_string_equal(read.command, written.command);
	assert_string_equal(read.message, written.message);
	assert_int_equal(read.running, written.running);
	assert_int_equal(read.wanted, written.wanted);
	assert_int_equal(read.restarts, written.restarts);
	assert_int_equal(read.exit_code, written.exit_code);
	assert_int_equal(read.is_finished, written.is_finished);
	assert_int_equal(read.start_time, written.start_time);
	assert_int_equal(read.completion_time, written.completion_time);
}

SCENE_TEST(of_nothing_a_summary_is_empty)
{
	struct summary summary;

	summary_read(NULL, scene->arena, &summary);
	assert_string_equal(summary.state, "");
	assert_int_equal(summary.exit_code, -1);
	assert_int_equal(summary.start_time, MSEC_UNSET);
}
