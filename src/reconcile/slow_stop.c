/* Stops without effect. */
#include "reconcile/slow_stop.h"

#include "base/text.h"
#include "reconcile/finish.h"
#include "spec/job.h"
#include "status/failure_words.h"

#include <signal.h>

#define PATIENCE (5 * MSEC_PER_SECOND)

/* A grace period that was shortened since counts. */
static msec kill_at_of(const struct decision *decision, const struct observed_replica *object)
{
	msec grace = finish_ending(decision).grace;

	return decision_is_at_rest(decision)
		       ? msec_min(object->kill_at, object->stop_asked_at + grace)
		       : object->kill_at;
}

/* Whether the replica was asked to stop, still runs, and is killed only after that can be
 * reported. */
static bool awaits_kill(const struct decision *decision, const struct observed_replica *object)
{
	if (!observed_is_live(object) || !observed_was_asked_to_end(object) || object->is_killed)
		return false;
	msec kill_at = kill_at_of(decision, object);

	return kill_at > decision->now && kill_at > object->stop_asked_at + PATIENCE;
}

/* Replicas that were asked together are reported together, when the last of them had its time. */
static msec late_at(const struct decision *decision)
{
	msec asked_at = MSEC_UNSET;

	for (size_t i = 0; i < decision->observed->n_replicas; i++) {
		const struct observed_replica *object = &decision->observed->replicas[i];

		if (awaits_kill(decision, object) && object->stop_asked_at > asked_at)
			asked_at = object->stop_asked_at;
	}
	return asked_at == MSEC_UNSET ? MSEC_NEVER : asked_at + PATIENCE;
}

/* Only for a stop: a user who scales down does not want the job to end. */
static void add_stop_now_hint(const struct job *job, struct text *message)
{
	bool was_key = text_equals(job->stop_reason, stop_reason_words[STOP_INTERRUPTED]);

	if (job->stop_reason)
		text_addf(message, " (immediately: `muster stop --now %s`%s)", job->name,
			  was_key ? ", or Ctrl-C again" : "");
}

/* True at any later moment, so that it is written and reported once. */
static const char *describe_late_stop(const struct decision *decision,
				      const struct observed_replica *object)
{
	int signal = stop_signal_of(decision->job);
	char *name CLEANUP(mem_free_text) = stop_signal_format(signal);
	struct text message CLEANUP(text_done) = {0};

	text_addf(&message, "%s did not stop it within ", name);
	text_add_duration(&message, PATIENCE);
	text_add(&message, "; SIGKILL follows in ");
	text_add_duration(&message,
			  kill_at_of(decision, object) - object->stop_asked_at - PATIENCE);
	add_stop_now_hint(decision->job, &message);
	if (signal == SIGTERM && object->has_tensorflow && !decision->job->elastic_id)
		text_add(&message, ". TensorFlow treats SIGTERM as a preemption notice and keeps "
				   "training unless the script handles it; `muster run "
				   "--stop-signal INT` stops one that trains, and `--grace 5s` "
				   "shortens the wait");
	return arena_copy_text(decision->arena, text_of(&message));
}

/* A reported replica stays reported when others are asked to stop after it. */
static bool is_late(const struct decision *decision, const struct replica *replica, msec at)
{
	return decision->now >= at || text_equals(replica->last_reason, FAILURE_STILL_RUNS);
}

static void mark_late_stop(const struct decision *decision, const struct observed_replica *object,
			   msec at)
{
	const struct replica *replica = decision_find(decision, object->role, object->index);

	if (!replica || !awaits_kill(decision, object) || !is_late(decision, replica, at) ||
	    (replica->status->state != REPLICA_PENDING &&
	     replica->status->state != REPLICA_STOPPING))
		return;
	replica->status->reason = FAILURE_STILL_RUNS;
	replica->status->is_reason_from_elsewhere = true;
	replica->status->message = describe_late_stop(decision, object);
}

void slow_stops_find(struct decision *decision)
{
	msec at = late_at(decision);

	if (!decision->observed->traits.sends_signals)
		return;
	if (decision->now < at)
		plan_wake_at(decision->plan, at);
	for (size_t i = 0; i < decision->observed->n_replicas; i++)
		mark_late_stop(decision, &decision->observed->replicas[i], at);
}
