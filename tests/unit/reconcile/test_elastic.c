/* The part of an elastic job on one machine, under the orders of its server. */
#include "unit.h"

#include "base/exit_code.h"
#include "reconcile/plan.h"
#include "scene.h"
#include "status/failure_words.h"

/* One process, of rank 1, in a world of two machines. */
static struct observed_world *begin(struct scene *scene)
{
	struct observed_world *world = arena_take(scene->arena, sizeof(*world));

	*world = (struct observed_world){
		.generation = 1,
		.size = 2,
		.ranks_of = 1,
		.first_rank = 1,
		.n_ranks = 2,
	};
	scene->observed.world = world;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	return world;
}

SCENE_TEST(a_process_is_named_by_its_rank)
{
	begin(scene);
	scene_exit_and_decide(scene, "worker", 0, 1, 1, 0);
	assert_true(scene->plan.is_failure_new);
	assert_non_null(strstr(scene->status.failure->message, "exited with code 1"));
	assert_non_null(strstr(scene->status.failure->message, "(rank 1, attempt 1)"));
	assert_string_equal(scene->status.failure->rank, "1 of 2");
}

SCENE_TEST(a_process_that_failed_without_the_server_explains_the_end)
{
	struct observed_world *world = begin(scene);

	scene_exit_and_settle(scene, "worker", 0, 1, 1, 0);
	world->is_over = true;
	world->why = "cannot reach 10.0.0.1 port 29400: connection refused";
	scene_settle(scene);
	assert_string_equal(scene->status.failure->role, "worker");
	assert_string_equal(scene->status.failure->cause, world->why);
	assert_int_equal(scene->status.exit_code, EXIT_NOT_REACHED);
}

SCENE_TEST(a_server_that_is_lost_ends_the_job_of_processes_that_run)
{
	struct observed_world *world = begin(scene);

	world->is_over = true;
	world->why = "cannot reach 10.0.0.1 port 29400: connection refused";
	scene_settle(scene);
	assert_null(scene->status.failure->role);
	assert_string_equal(scene->status.failure->message, world->why);
	assert_int_equal(scene->status.exit_code, EXIT_NOT_REACHED);
}

SCENE_TEST(a_new_world_is_recorded_and_its_processes_run)
{
	struct observed_world *world = begin(scene);

	scene_settle(scene);
	assert_true(status_condition_is_true(&scene->status, CONDITION_RUNNING));
	assert_string_equal(scene->status.machines, "2");
	assert_false(status_condition_is_true(&scene->status, CONDITION_RESTARTING));
	*world = (struct observed_world){
		.generation = 2, .size = 3, .ranks_of = 2, .first_rank = 2, .n_ranks = 3};
	scene_decide(scene);
	assert_true(status_condition_is_true(&scene->status, CONDITION_RESTARTING));
	assert_string_equal(scene_message(scene, CONDITION_RESTARTING),
			    "job j is restarting in world 2.");
	assert_string_equal(scene->status.machines, "2, 3");
	assert_int_equal(scene->status.first_rank, 2);
	assert_int_equal(scene->status.n_ranks, 3);
}

/* What this machine knows of its own process stays, unless the failure is of a newer world. */
SCENE_TEST(a_failure_of_this_machine_is_known_better_than_its_report)
{
	struct observed_world *world = begin(scene);
	struct failure report = {.role = "worker", .attempt = 1, .message = "the same, less well"};

	scene_exit_and_settle(scene, "worker", 0, 1, 3, 0);
	world->failure = &report;
	scene_decide(scene);
	assert_string_not_equal(scene->status.failure->message, report.message);
	report.machine = "10.0.0.2 (machine 0)";
	scene_decide(scene);
	assert_string_equal(scene->status.failure->message, report.message);
}

SCENE_TEST(a_failure_of_an_older_world_does_not_explain_the_end)
{
	struct observed_world *world = begin(scene);

	scene_exit_and_settle(scene, "worker", 0, 1, 1, 0);
	world->ranks_of = 2;
	world->is_over = true;
	world->why = "cannot reach 10.0.0.1 port 29400: connection refused";
	scene_settle(scene);
	assert_string_equal(scene->status.failure->message, world->why);
}

SCENE_TEST(the_end_for_lack_of_machines_names_the_lost_ones)
{
	struct observed_world *world = begin(scene);
	const struct failure loss = {
		.attempt = 1,
		.exit_code = -1,
		.reason = FAILURE_MACHINE_LOST,
		.machine = "10.0.0.2 (machine 0)",
		.message = "10.0.0.2 (machine 0) was lost",
	};

	world->failure = &loss;
	world->is_failure_news = true;
	scene_settle(scene);
	assert_string_equal(scene->status.failure->message, loss.message);
	world->is_over = true;
	world->verdict = RENDEZVOUS_TIMED_OUT;
	scene_settle(scene);
	assert_string_equal(scene->status.failure->message,
			    "too few machines took part for too long, after 10.0.0.2 (machine 0) "
			    "was lost");
	assert_int_equal(scene->status.exit_code, EXIT_OVERDUE);
}
