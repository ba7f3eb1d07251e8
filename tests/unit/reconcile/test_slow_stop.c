/* What a signal does not end is told of once, where the signal was sent from here. */
#include "unit.h"

#include "base/text.h"
#include "scene.h"
#include "status/failure_words.h"

static void stop_two_workers(struct scene *scene)
{
	scene->observed.traits.sends_signals = true;
	scene_add_role(scene, ROLE_WORKER, 2, RESTART_ON_FAILURE);
	scene_settle(scene);
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

TEST_WITH(scene_begin, scene_end, it_is_told_once_after_five_seconds)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	assert_int_equal(scene->plan.wake_at, scene->now + 5000);
	assert_int_equal(notes_after(scene, 4999), 0);
	assert_int_equal(notes_after(scene, 1), 1);
	assert_int_equal(notes_after(scene, 1000), 0);
	assert_false(scene->plan.is_status_changed);
	assert_string_equal(scene->status.replicas[1].reason, FAILURE_STILL_RUNS);
}

TEST_WITH(scene_begin, scene_end, what_tensorflow_does_is_told_where_it_was_loaded)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 1);
	assert_null(strstr(scene->plan.notes[0].sentence, "TensorFlow"));
	scene_settle(scene);
	scene->objects[0].has_tensorflow = scene->objects[1].has_tensorflow = true;
	scene_decide(scene);
	assert_non_null(strstr(scene->status.replicas[0].message, "TensorFlow treats SIGTERM"));
}

TEST_WITH(scene_begin, scene_end, those_asked_a_moment_later_are_told_of_together)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	scene->objects[1].stop_asked_at += 40;
	scene->objects[1].kill_at += 40;
	assert_int_equal(notes_after(scene, 5000), 0);
	assert_int_equal(scene->plan.wake_at, scene->now + 40);
	assert_int_equal(notes_after(scene, 40), 1);
	assert_non_null(strstr(scene->plan.notes[0].sentence, "worker-0 (and 1 more) "));
}

TEST_WITH(scene_begin, scene_end, what_was_told_is_not_told_again_when_others_end_later)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 1);
	scene->objects[1].stop_asked_at = scene->now;
	scene->objects[1].kill_at = scene->now + scene->job.grace;
	assert_int_equal(notes_after(scene, 1000), 0);
	assert_string_equal(scene->status.replicas[0].reason, FAILURE_STILL_RUNS);
}

TEST_WITH(scene_begin, scene_end, what_is_killed_that_soon_is_not_told_of)
{
	struct scene *scene = *state;

	scene->job.grace = 5000;
	stop_two_workers(scene);
	assert_int_equal(notes_after(scene, 5000), 0);
}

TEST_WITH(scene_begin, scene_end, a_grace_that_was_made_shorter_counts)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	scene->job.grace = 0;
	assert_int_equal(notes_after(scene, 5000), 0);
}

TEST_WITH(scene_begin, scene_end, nothing_is_said_where_a_node_sends_the_signal)
{
	struct scene *scene = *state;

	stop_two_workers(scene);
	scene->observed.traits.sends_signals = false;
	assert_int_equal(notes_after(scene, 5000), 0);
}
