/* Sentences and exit codes of failures. */
#include "unit.h"

#include "reconcile/failure.h"
#include "scene.h"

static const struct failure *fail_worker(struct scene *scene, int exit_code, int signal,
					 const char *reason, const char *message)
{
	struct observed_replica *object;

	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->now += 2000;
	scene_exit(scene, "worker", 1, 0, exit_code, signal);
	object = scene_object(scene, "worker", 1, 0);
	object->reason = reason;
	object->message = message;
	scene_decide(scene);
	return scene->status.failure;
}

TEST_WITH(scene_begin, scene_end, an_exit_code_is_said)
{
	const struct failure *failure = fail_worker(*state, 3, 0, NULL, NULL);

	assert_string_equal(failure->message, "worker-1 exited with code 3 after 2s (attempt 0)");
	assert_string_equal(failure->reason, "Error");
	assert_string_equal(failure->role, "worker");
	assert_int_equal(failure->index, 1);
	assert_int_equal(failure->lived, 2000);
	assert_int_equal(failure_exit_code(failure), 3);
}

TEST_WITH(scene_begin, scene_end, a_signal_is_said_by_name)
{
	const struct failure *failure = fail_worker(*state, 0, 9, NULL, NULL);

	assert_string_equal(
		failure->message,
		"worker-1 was killed by signal 9 (SIGKILL) after 2s, not by muster (attempt 0)");
	assert_string_equal(failure->reason, "Signal");
	assert_int_equal(failure_exit_code(failure), 137);
}

TEST_WITH(scene_begin, scene_end, a_signal_without_a_name_is_said_by_number)
{
	const struct failure *failure = fail_worker(*state, 0, 40, NULL, NULL);

	assert_non_null(strstr(failure->message, "was killed by signal 40 after"));
}

TEST_WITH(scene_begin, scene_end, running_out_of_memory_is_said)
{
	const struct failure *failure = fail_worker(*state, 0, 9, "OOMKilled", NULL);

	assert_string_equal(failure->message, "worker-1 ran out of memory and was killed "
					      "(OOMKilled) after 2s (attempt 0)");
	assert_int_equal(failure_exit_code(failure), 137);
}

TEST_WITH(scene_begin, scene_end, a_back_ends_own_words_are_kept)
{
	const struct failure *failure =
		fail_worker(*state, -1, 0, "Evicted", "The node was low on resource: memory. ");

	assert_string_equal(failure->reason, "Evicted");
	assert_string_equal(failure->message,
			    "worker-1 was evicted by its node after 2s: The node was low on "
			    "resource: memory (attempt 0)");
	assert_int_equal(failure_exit_code(failure), 1);
}

TEST_WITH(scene_begin, scene_end, a_word_that_is_not_known_is_said_with_the_code)
{
	const struct failure *failure =
		fail_worker(*state, 0, 9, "ContainerStatusUnknown", "it could not be located");

	assert_string_equal(failure->message,
			    "worker-1 was killed by signal 9 (SIGKILL) (ContainerStatusUnknown) "
			    "after 2s: it could not be located (attempt 0)");
	assert_string_equal(failure->reason, "ContainerStatusUnknown");
}

TEST_WITH(scene_begin, scene_end, only_the_first_line_of_a_message_is_said)
{
	const struct failure *failure = fail_worker(*state, 3, 0, NULL, "first.\nsecond");

	assert_string_equal(failure->message,
			    "worker-1 exited with code 3 after 2s: first (attempt 0)");
}

/* Somebody else asks a replica to end; `reason` says what. */
static const struct failure *take_worker_away(struct scene *scene, const char *reason,
					      const char *message)
{
	struct observed_replica *object;

	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->now += 2000;
	object = scene_object(scene, "worker", 1, 0);
	object->stop_asked_at = scene->now;
	object->kill_at = scene->now + 1000;
	object->reason = reason;
	object->message = message;
	scene_decide(scene);
	return scene->status.failure;
}

TEST_WITH(scene_begin, scene_end, who_takes_a_replica_away_is_said)
{
	const struct failure *failure =
		take_worker_away(*state, "PreemptionByScheduler", "default-scheduler: preempting");

	assert_string_equal(failure->message,
			    "worker-1 was preempted by a Pod of higher priority after 2s: "
			    "default-scheduler: preempting (attempt 0)");
	assert_string_equal(failure->reason, "PreemptionByScheduler");
}

TEST_WITH(scene_begin, scene_end, what_was_in_its_way_before_is_not_why_it_was_deleted)
{
	const struct failure *failure = take_worker_away(*state, "Unschedulable", "0/4 nodes");

	assert_string_equal(failure->message,
			    "worker-1 was deleted by another client after 2s (attempt 0)");
	assert_string_equal(failure->reason, "Deleted");
}

TEST_WITH(scene_begin, scene_end, what_could_not_start_has_the_shells_code)
{
	const struct failure *failure =
		fail_worker(*state, -1, 0, FAILURE_START_FAILED, "no such file: train.py");

	assert_string_equal(failure->message,
			    "worker-1 could not be started: no such file: train.py (attempt 0)");
	assert_int_equal(failure_exit_code(failure), 127);
}

/* Whatever the policy: the next Pod would be refused as this one. */
SCENE_TEST(what_is_refused_for_ever_is_not_tried_again)
{
	struct observed_replica *object;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ALWAYS);
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_settle(scene);
	scene_exit(scene, "worker", 1, 0, -1, 0);
	object = scene_object(scene, "worker", 1, 0);
	object->phase = OBSERVED_FAILED;
	object->started_at = MSEC_UNSET;
	object->reason = FAILURE_REFUSED;
	object->message = "violates PodSecurity \"restricted:latest\"";
	scene_decide(scene);
	assert_true(status_condition_is_true(&scene->status, CONDITION_FAILED));
	assert_int_equal(scene->status.exit_code, 127);
	assert_string_equal(scene->status.failure->message,
			    "worker-1 was rejected by the cluster: violates PodSecurity "
			    "\"restricted:latest\" (attempt 0)");
}

TEST_WITH(scene_begin, scene_end, survivors_are_consequences)
{
	const struct failure *failure = fail_worker(*state, 3, 0, NULL, NULL);

	assert_int_equal(failure->n_consequences, 1);
	assert_int_equal(failure->consequences[0].index, 0);
	assert_string_equal(failure->consequences[0].what, "was stopped by muster");
}

/* How worker-0 ended, which lived when worker-1 failed and was asked to end. */
static const char *end_survivor(struct scene *scene, msec ends_after_it_was_asked, int exit_code,
				int signal)
{
	struct observed_replica *object;

	fail_worker(scene, 3, 0, NULL, NULL);
	object = scene_object(scene, "worker", 0, 0);
	object->stop_asked_at = scene->now;
	object->kill_at = scene->now + 1000;
	scene->now += ends_after_it_was_asked;
	scene_exit_and_decide(scene, "worker", 0, 0, exit_code, signal);
	assert_string_equal(scene->status.failure->role, "worker");
	assert_int_equal(scene->status.failure->index, 1);
	return scene->status.failure->consequences[0].what;
}

TEST_WITH(scene_begin, scene_end, who_had_ended_before_it_was_asked_ended_by_itself)
{
	assert_string_equal(end_survivor(*state, -5, 1, 0), "exited with code 1");
}

TEST_WITH(scene_begin, scene_end, a_crash_before_it_was_asked_is_its_own)
{
	assert_string_equal(end_survivor(*state, -5, 0, 6), "was killed by signal 6 (SIGABRT)");
}

/* The times of Pods are whole seconds. */
TEST_WITH(scene_begin, scene_end, who_ended_in_the_second_in_which_it_was_asked_is_judged_by_how)
{
	assert_string_equal(end_survivor(*state, 0, 1, 0), "exited with code 1");
}

TEST_WITH(scene_begin, scene_end, our_signal_in_that_second_was_ours)
{
	assert_string_equal(end_survivor(*state, 0, 0, 15), "was stopped by muster");
}

TEST_WITH(scene_begin, scene_end, who_ended_after_it_was_asked_was_ended_by_us)
{
	assert_string_equal(end_survivor(*state, 5, 1, 0), "was stopped by muster");
}

/* What is left of the attempt before tells it, too. */
SCENE_TEST(so_it_is_when_the_job_starts_again)
{
	struct observed_replica *object;

	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene->job.restart_scope = RESTART_SCOPE_JOB;
	scene_settle(scene);
	scene_exit_and_decide(scene, "worker", 1, 0, 3, 0);
	assert_string_equal(scene->status.failure->consequences[0].what, "was stopped by muster");
	scene_exit(scene, "worker", 0, 0, 1, 0);
	object = scene_object(scene, "worker", 0, 0);
	object->stop_asked_at = scene->now + 3;
	scene_decide(scene);
	assert_true(scene->plan.is_status_changed);
	assert_string_equal(scene->status.failure->consequences[0].what, "exited with code 1");
}

/* worker-1 fails while worker-0 is stopped. */
static const struct failure *fail_beside_a_stopped_one(struct scene *scene, int exit_code,
						       int signal, const char *reason)
{
	struct observed_replica *object;

	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	object = scene_object(scene, "worker", 0, 0);
	object->reason = FAILURE_PROCESS_STOPPED;
	object->message = "SIGSTOP holds its process still";
	scene_decide(scene);
	assert_int_equal(scene->plan.n_notes, 1);
	assert_string_equal(
		scene->plan.notes[0].sentence,
		"worker-0 is stopped (ProcessStopped): SIGSTOP holds its process still");
	scene_decide(scene);
	assert_int_equal(scene->plan.n_notes, 0);
	scene_exit(scene, "worker", 1, 0, exit_code, signal);
	scene_object(scene, "worker", 1, 0)->reason = reason;
	scene_decide(scene);
	return scene->status.failure;
}

TEST_WITH(scene_begin, scene_end, a_peer_that_was_stopped_is_the_likely_cause)
{
	const struct failure *failure = fail_beside_a_stopped_one(*state, 1, 0, NULL);

	assert_string_equal(failure->message, "worker-1 exited with code 1 after 0s (attempt 0)");
	assert_string_equal(failure->cause,
			    "worker-0 was paused (SIGSTOP, Ctrl-Z or a debugger) when worker-1 "
			    "failed, probably while waiting for it; find out what paused it, or "
			    "continue it in time: kill -CONT 101");
}

TEST_WITH(scene_begin, scene_end, what_was_killed_did_not_fail_of_it)
{
	assert_null(fail_beside_a_stopped_one(*state, 0, 9, NULL)->cause);
}

TEST_WITH(scene_begin, scene_end, what_has_a_reason_of_its_own_did_not_either)
{
	assert_null(fail_beside_a_stopped_one(*state, 0, 6, "Evicted")->cause);
}

TEST_WITH(scene_begin, scene_end, without_a_stopped_one_there_is_no_such_cause)
{
	assert_null(fail_worker(*state, 1, 0, NULL, NULL)->cause);
}

SCENE_TEST(the_first_to_end_is_the_failure)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->now += 1000;
	scene_exit(scene, "worker", 1, 0, 5, 0);
	scene->now += 1;
	scene_exit_and_decide(scene, "ps", 0, 0, 6, 0);
	assert_string_equal(scene->status.failure->role, "worker");
	assert_int_equal(scene->status.exit_code, 5);
	assert_true(scene->plan.is_failure_new);
}

SCENE_TEST(of_those_who_ended_together_the_first_in_order_is_it)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene_exit(scene, "worker", 1, 0, 5, 0);
	scene_exit_and_decide(scene, "ps", 0, 0, 6, 0);
	assert_string_equal(scene->status.failure->role, "ps");
}
