/* What stands in the way of replicas is told once, with all replicas that it holds up. */
#include "unit.h"

#include "reconcile/waiting_reason.h"
#include "scene.h"
#include "status/failure_words.h"

/* Each worker waits for this reason. */
static void hold_workers(struct scene *scene, const char *reason, const char *message)
{
	for (size_t i = 0; i < scene->observed.n_replicas; i++) {
		scene->objects[i].phase = OBSERVED_STARTING;
		scene->objects[i].reason = reason;
		scene->objects[i].message = message;
	}
}

static void begin_workers(struct scene *scene, int count)
{
	scene_add_role(scene, ROLE_WORKER, count, RESTART_ON_FAILURE);
	scene->observed.traits.names_carry_attempt = false;
	scene_settle(scene);
}

static const struct note *note_with(const struct plan *plan, const char *reason)
{
	for (size_t i = 0; i < plan->n_notes; i++)
		if (text_equals(plan->notes[i].reason, reason))
			return &plan->notes[i];
	return NULL;
}

static const struct note *note_of(const struct plan *plan)
{
	return note_with(plan, "ReplicaWaits");
}

static const struct note *note_of_end(const struct plan *plan)
{
	return note_with(plan, "ReplicaStillRuns");
}

SCENE_TEST(one_sentence_is_said_for_all_whom_it_holds)
{
	const struct note *note;

	begin_workers(scene, 4);
	hold_workers(scene, "Unschedulable", "0/4 nodes are available: 4 Insufficient cpu.");
	note = note_of(scene_decide(scene));
	assert_non_null(note);
	assert_int_equal(note->level, NOTE_WARNING);
	assert_string_equal(
		note->sentence,
		"worker-0 (and 3 more) cannot be scheduled (Unschedulable): 0/4 nodes are "
		"available: 4 Insufficient cpu.");
	assert_int_equal(scene->plan.n_notes, 1);
}

SCENE_TEST(it_is_said_once)
{
	begin_workers(scene, 1);
	hold_workers(scene, "ErrImagePull", "image 'x': not found");
	assert_non_null(note_of(scene_decide(scene)));
	assert_null(note_of(scene_decide(scene)));
	hold_workers(scene, "ImagePullBackOff", "image 'x': Back-off");
	assert_null(note_of(scene_decide(scene)));
}

SCENE_TEST(another_trouble_is_said_too)
{
	begin_workers(scene, 1);
	hold_workers(scene, "Unschedulable", "0/4 nodes are available");
	scene_decide(scene);
	hold_workers(scene, "CreateContainerConfigError", "secret \"s\" not found");
	assert_string_equal(note_of(scene_decide(scene))->sentence,
			    "worker-0 cannot be set up (CreateContainerConfigError): secret \"s\" "
			    "not found");
}

SCENE_TEST(what_a_server_says_does_nothing_to_a_terminal)
{
	struct text text CLEANUP(text_done) = {0};

	begin_workers(scene, 1);
	hold_workers(scene, "ErrImagePull", "no \x1b[2Jimage\nat all");
	assert_string_equal(note_of(scene_decide(scene))->sentence,
			    "worker-0 cannot pull its image (ErrImagePull): no ?[2Jimage");
	waiting_reasons_describe(&scene->status, "", &text);
	assert_string_equal(text_of(&text),
			    "worker-0 cannot pull its image (ErrImagePull): no ?[2Jimage\n");
}

SCENE_TEST(the_status_keeps_it_until_it_goes_away)
{
	struct text text CLEANUP(text_done) = {0};

	begin_workers(scene, 2);
	hold_workers(scene, "Unschedulable", "0/4 nodes are available");
	scene->objects[1].message = "0/4 nodes are left";
	scene_decide(scene);
	waiting_reasons_describe(&scene->status, "  ", &text);
	assert_string_equal(
		text_of(&text),
		"  worker-0 cannot be scheduled (Unschedulable): 0/4 nodes are available\n"
		"  worker-1 cannot be scheduled (Unschedulable): 0/4 nodes are left\n");
	text_clear(&text);
	assert_string_equal(waiting_reason_add_first(&scene->status, "; ", &text), "Unschedulable");
	assert_string_equal(
		text_of(&text),
		"; worker-0 cannot be scheduled (Unschedulable): 0/4 nodes are available");
	hold_workers(scene, NULL, NULL);
	scene_decide(scene);
	text_clear(&text);
	waiting_reasons_describe(&scene->status, "", &text);
	assert_null(waiting_reason_add_first(&scene->status, "; ", &text));
	assert_int_equal(text.len, 0);
}

SCENE_TEST(a_deadline_that_came_while_somebody_waited_says_for_what)
{
	begin_workers(scene, 2);
	hold_workers(scene, "ErrImagePull", "image 'x': not found");
	scene_decide(scene);
	scene->job.active_deadline = 60000;
	scene->now += 60000;
	scene_decide(scene);
	assert_non_null(scene->status.failure);
	assert_string_equal(scene->status.failure->message,
			    "the job was active longer than its deadline of 60s; worker-0 (and 1 "
			    "more) cannot pull its image (ErrImagePull): image 'x': not found");
}

SCENE_TEST(how_a_replica_ended_is_no_obstacle)
{
	begin_workers(scene, 1);
	scene_exit(scene, "worker", 0, 0, -1, 9);
	scene_object(scene, "worker", 0, 0)->reason = "OOMKilled";
	assert_null(note_of(scene_decide(scene)));
}

/* One worker, on node n7. */
static struct observed_replica *begin_on_node(struct scene *scene)
{
	begin_workers(scene, 1);
	struct observed_replica *object = scene_object(scene, "worker", 0, 0);

	object->node = "n7";
	return object;
}

/* The cluster gave it up; its Pod has the name until the node says that it is gone. */
SCENE_TEST(who_waits_for_a_silent_node_says_so)
{
	struct observed_replica *object = begin_on_node(scene);

	object->is_node_silent = true;
	object->stop_asked_at = scene->now;
	object->kill_at = scene->now;
	assert_string_equal(
		note_of_end(scene_decide(scene))->sentence,
		"worker-0 is waiting for a node that does not respond (NodeSilent): attempt 0 was "
		"asked to stop on node 'n7' and may still be running there; muster waits until the "
		"node reports that it has stopped, or the node is deleted (kubectl delete node "
		"n7). If you know that it is not running, delete its Pod (kubectl delete pod -n "
		"default j-worker-0 --force)");
	assert_null(note_of_end(scene_decide(scene)));
	scene->observed.n_replicas = 0;
	scene_decide(scene);
	assert_null(scene_replica(scene, "worker", 0)->reason);
}

/* As a kubelet that nobody misses yet, or that cannot end a process. */
SCENE_TEST(what_does_not_end_in_time_is_said)
{
	struct observed_replica *object = begin_on_node(scene);

	scene->observed.traits.kills_after_grace = true;
	scene->job.stop_reason = STOP_INTERRUPTED;
	scene_decide(scene);
	object->stop_asked_at = scene->now;
	object->kill_at = scene->now + scene->job.grace;
	assert_null(note_of_end(scene_decide(scene)));
	assert_true(scene->plan.wake_at > object->kill_at);
	scene->now = scene->plan.wake_at;
	assert_non_null(strstr(
		note_of_end(scene_decide(scene))->sentence,
		"worker-0 is waiting for its previous attempt to stop (NotEnding): attempt 0 "
		"was asked to stop on node 'n7'"));
	assert_null(note_of_end(scene_decide(scene)));
	assert_int_equal(scene->plan.wake_at, MSEC_NEVER);
}

TEST(words_of_one_trouble_share_a_phrase)
{
	assert_string_equal(failure_phrase_of_waiting_reason("ErrImagePull"),
			    failure_phrase_of_waiting_reason("ImagePullBackOff"));
	assert_string_equal(failure_phrase_of_waiting_reason("SomethingNew"), "is waiting");
	assert_null(failure_phrase_of_end("SomethingNew"));
	assert_null(failure_phrase_of_end(NULL));
}

/* Its node has nothing to do with it: what is in it is being fetched. */
SCENE_TEST(what_is_held_does_not_stand_in_anybodys_way)
{
	struct observed_replica *object = begin_on_node(scene);

	object->is_held = true;
	scene->observed.traits.kills_after_grace = true;
	scene->job.stop_reason = STOP_INTERRUPTED;
	object->stop_asked_at = scene->now;
	object->kill_at = scene->now + scene->job.grace;
	scene->now = object->kill_at + 3600 * MSEC_PER_SECOND;
	assert_null(note_of_end(scene_decide(scene)));
}
