/* What has to end: leftovers, what is no longer wanted, and overdue stops. */
#include "unit.h"

#include "base/text.h"
#include "reconcile/output_idle.h"
#include "scene.h"
#include "status/failure_words.h"

SCENE_TEST(a_stranger_is_ended_and_removed)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_start(scene, &(struct action){.role = "foo", .index = 3});
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_STOP, "foo", 3));
	scene_exit_and_decide(scene, "foo", 3, 0, 0, 15);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "foo", 3));
	assert_true(status_condition_is_true(&scene->status, CONDITION_RUNNING));
}

/* A sidecar of an attempt that nobody wants any more. */
SCENE_TEST(what_is_left_of_a_pod_is_asked_to_end_once_and_then_removed)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene_start(scene, &(struct action){.role = "foo", .index = 3});
	scene_exit(scene, "foo", 3, 0, 0, 0);
	struct observed_replica *left = scene_object(scene, "foo", 3, 0);

	left->is_object_running = true;
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "foo", 3)->grace, scene->job.grace);
	assert_null(scene_action(scene, ACTION_REMOVE, "foo", 3));
	left->is_object_running = false;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_REMOVE, "foo", 3));
}

SCENE_TEST(a_lost_role_is_ended_and_stays_in_the_status)
{
	scene_add_role(scene, ROLE_PS, 1, RESTART_NEVER);
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->roles[0] = scene->roles[1];
	scene->job.n_roles = 1;
	scene_decide(scene);
	assert_int_equal(scene_action(scene, ACTION_STOP, "ps", 0)->grace, scene->job.grace);
	assert_int_equal(scene_replica(scene, "ps", 0)->state, REPLICA_STOPPING);
	assert_null(scene_action(scene, ACTION_UNPUBLISH, "ps", 0));
	scene_apply(scene, &scene->plan.actions[0]);
	scene_exit_and_settle(scene, "ps", 0, 0, 0, 15);
	assert_int_equal(scene_replica(scene, "ps", 0)->state, REPLICA_STOPPED);
	assert_int_equal(scene->observed.n_addresses, 1);
}

SCENE_TEST(a_stop_becomes_a_kill_when_it_is_overdue)
{
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + scene->job.grace);
	scene->now += scene->job.grace;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
}

/* The policy keeps what there is, and a start that waits is nothing yet. */
SCENE_TEST(what_was_not_made_when_the_job_ended_is_not_made_any_more)
{
	scene->observed.traits = (struct backend_traits){.kills_after_grace = true};
	scene->job.clean_policy = CLEAN_NONE;
	scene_run(scene, ROLE_WORKER, 3, RESTART_NEVER);
	struct observed_replica *waiting = scene_object(scene, "worker", 2, 0);

	waiting->phase = OBSERVED_STARTING;
	waiting->is_unmade = true;
	scene_exit_and_decide(scene, "worker", 0, 0, 0, 0);
	assert_true(status_condition_is_true(&scene->status, CONDITION_SUCCEEDED));
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 2));
	assert_int_equal(scene_replica(scene, "worker", 2)->state, REPLICA_STOPPING);
	assert_null(scene_action(scene, ACTION_STOP, "worker", 1));
	assert_null(scene_action(scene, ACTION_KILL, "worker", 1));
}

SCENE_TEST(a_back_end_that_kills_by_itself_is_not_told_to)
{
	scene->observed.traits.kills_after_grace = true;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	scene->now += 2 * scene->job.grace;
	scene_decide(scene);
	assert_int_equal(scene->plan.n_actions, 0);
}

SCENE_TEST(a_grace_that_was_made_shorter_counts)
{
	scene->observed.traits.kills_after_grace = true;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.stop_reason = "interrupted";
	scene_settle(scene);
	scene->job.grace = 2 * MSEC_PER_SECOND;
	scene_settle(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + scene->job.grace);
	scene->now += scene->job.grace;
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
}

SCENE_TEST(without_grace_the_kill_comes_at_once)
{
	scene->job.grace = 0;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->job.stop_reason = "interrupted";
	scene_decide(scene);
	assert_non_null(scene_action(scene, ACTION_KILL, "worker", 0));
	assert_null(scene_action(scene, ACTION_STOP, "worker", 0));
}

SCENE_TEST(stopping_is_written_before_the_stop)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->roles[0].replicas = 1;
	scene_decide(scene);
	assert_true(scene->plan.is_status_changed);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_STOPPING);
	assert_non_null(scene_action(scene, ACTION_STOP, "worker", 1));
}

SCENE_TEST(an_end_that_was_asked_for_is_no_failure)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->roles[0].replicas = 1;
	scene_settle(scene);
	scene_exit_and_settle(scene, "worker", 1, 0, 143, 0);
	assert_int_equal(scene_replica(scene, "worker", 1)->state, REPLICA_STOPPED);
	assert_int_equal(scene_replica(scene, "worker", 1)->exit_code, 143);
	assert_false(status_is_finished(&scene->status));
}

/* Those of which nobody knows what they were doing. */
SCENE_TEST(a_silent_replica_keeps_its_stacks_when_it_is_stopped)
{
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->now += 2 * OUTPUT_IDLE_FIRST;
	scene_object(scene, "worker", 1, 0)->printed_at = scene->now - OUTPUT_IDLE_FIRST + 1;
	scene->job.stop_reason = "interrupted";
	scene_decide(scene);
	assert_true(scene_action(scene, ACTION_STOP, "worker", 0)->keeps_stacks);
	assert_false(scene_action(scene, ACTION_STOP, "worker", 1)->keeps_stacks);
}

SCENE_TEST(a_job_that_takes_too_long_keeps_all_stacks)
{
	scene->job.active_deadline = MSEC_PER_SECOND;
	scene->job.clean_policy = CLEAN_ALL;
	scene_run(scene, ROLE_WORKER, 2, RESTART_NEVER);
	scene->now += MSEC_PER_SECOND;
	scene_object(scene, "worker", 1, 0)->printed_at = scene->now;
	scene_decide(scene);
	assert_true(scene_action(scene, ACTION_STOP, "worker", 0)->keeps_stacks);
	assert_true(scene_action(scene, ACTION_STOP, "worker", 1)->keeps_stacks);
}

SCENE_TEST(a_kill_keeps_no_stacks)
{
	scene->job.grace = 0;
	scene_run(scene, ROLE_WORKER, 1, RESTART_NEVER);
	scene->now += 2 * OUTPUT_IDLE_FIRST;
	scene->job.stop_reason = "interrupted";
	scene_decide(scene);
	assert_false(scene_action(scene, ACTION_KILL, "worker", 0)->keeps_stacks);
}

/* It was printing; one that was silent may be what the failed one waited for. */
SCENE_TEST(after_a_failure_the_silent_keep_their_stacks)
{
	scene->job.clean_policy = CLEAN_ALL;
	scene_run(scene, ROLE_WORKER, 3, RESTART_NEVER);
	scene->now += OUTPUT_IDLE_FIRST;
	scene_object(scene, "worker", 1, 0)->printed_at = scene->now - 5 * MSEC_PER_SECOND;
	scene_object(scene, "worker", 2, 0)->printed_at = scene->now - 5 * MSEC_PER_SECOND + 1;
	scene_exit_and_decide(scene, "worker", 0, 0, 1, 0);
	assert_true(scene_action(scene, ACTION_STOP, "worker", 1)->keeps_stacks);
	assert_false(scene_action(scene, ACTION_STOP, "worker", 2)->keeps_stacks);
}

/* What a signal does not end is told of once, where the signal was sent from here. */

static void stop_two_workers(struct scene *scene)
{
	scene->observed.traits.sends_signals = true;
	scene_run(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene->job.stop_reason = stop_reason_words[STOP_REQUESTED];
	scene_settle(scene);
}

/* How many notes say it after so long. */
static size_t notes_after(struct scene *scene, msec duration)
{
	size_t count = 0;

	scene->now += duration;
	scene_decide(scene);
	for (size_t i = 0; i < scene->plan.n_notes; i++)
		count += text_equals(scene->plan.notes[i].reason, "ReplicaStillRuns");
	return count;
}

SCENE_TEST(it_is_told_once_after_five_seconds)
{
	stop_two_workers(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + 5000);
	assert_int_equal(notes_after(scene, 4999), 0);
	assert_int_equal(notes_after(scene, 1), 1);
	assert_int_equal(notes_after(scene, 1000), 0);
	assert_false(scene->plan.is_status_changed);
	assert_string_equal(scene->status.replicas[1].reason, FAILURE_STILL_RUNS);
}

SCENE_TEST(what_tensorflow_does_is_told_where_it_was_loaded)
{
	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 1);
	assert_null(strstr(scene->plan.notes[0].sentence, "TensorFlow"));
	scene_settle(scene);
	scene->objects[0].has_tensorflow = scene->objects[1].has_tensorflow = true;
	scene_decide(scene);
	assert_non_null(strstr(scene->status.replicas[0].message, "TensorFlow treats SIGTERM"));
}

SCENE_TEST(those_asked_a_moment_later_are_told_of_together)
{
	stop_two_workers(scene);
	scene->objects[1].stop_asked_at += 40;
	scene->objects[1].kill_at += 40;
	assert_int_equal(notes_after(scene, 5000), 0);
	assert_int_equal(scene->plan.wake_at, scene->now + 40);
	assert_int_equal(notes_after(scene, 40), 1);
	assert_non_null(strstr(scene->plan.notes[0].sentence, "worker-0 (and 1 more) "));
}

SCENE_TEST(what_was_told_is_not_told_again_when_others_end_later)
{
	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 1);
	scene->objects[1].stop_asked_at = scene->now;
	scene->objects[1].kill_at = scene->now + scene->job.grace;
	assert_int_equal(notes_after(scene, 1000), 0);
	assert_string_equal(scene->status.replicas[0].reason, FAILURE_STILL_RUNS);
}

SCENE_TEST(what_is_killed_that_soon_is_not_told_of)
{
	scene->job.grace = 5000;
	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 0);
}

SCENE_TEST(a_slow_stop_is_measured_by_a_shortened_grace)
{
	stop_two_workers(scene);
	scene->job.grace = 0;
	assert_int_equal(notes_after(scene, 5000), 0);
}

SCENE_TEST(nothing_is_said_where_a_node_sends_the_signal)
{
	stop_two_workers(scene);
	scene->observed.traits.sends_signals = false;
	assert_int_equal(notes_after(scene, 5000), 0);
}
