/* Stops, kills, removals, and unpublished addresses. */
#include "reconcile/steps.h"

#include "base/text.h"
#include "reconcile/finish.h"
#include "reconcile/output_idle.h"
#include "spec/job.h"
#include "status/failure_words.h"

#include <signal.h>

/* Peers wait for one another for at least this long before they give up. */
#define OUTPUT_IDLE_BEFORE_FAILURE (5 * MSEC_PER_SECOND)

static void act_on_object(struct decision *decision, enum action_type type,
			  const struct observed_replica *object, msec grace)
{
	decision_act(decision, type, object->role, object->index, object->attempt, grace);
}

/* An overdue stop becomes a kill, unless the back end does that itself. */
static void kill_if_overdue(struct decision *decision, const struct observed_replica *object,
			    msec kill_at)
{
	bool is_seen_to =
		decision->observed->traits.kills_after_grace && kill_at >= object->kill_at;

	if (is_seen_to || object->is_killed)
		return;
	if (decision->now >= kill_at)
		act_on_object(decision, ACTION_KILL, object, 0);
	else
		plan_wake_at(decision->plan, kill_at);
}

static void ask_to_end(struct decision *decision, const struct observed_replica *object, msec grace)
{
	act_on_object(decision, grace > 0 ? ACTION_STOP : ACTION_KILL, object, grace);
}

/* Its process has ended, but other containers of its Pod are running. */
static bool is_open(const struct observed_replica *object)
{
	return !observed_is_live(object) && object->is_object_running;
}

/* They get their grace period too. */
static void end_open(struct decision *decision, const struct observed_replica *object, msec grace)
{
	if (!observed_was_asked_to_end(object))
		ask_to_end(decision, object, grace);
}

/* Stops, then removes an object of no wanted attempt. A grace period that has begun stays. */
static void end_leftover(struct decision *decision, const struct observed_replica *object,
			 msec grace)
{
	if (is_open(object))
		end_open(decision, object, grace);
	else if (!observed_is_live(object))
		act_on_object(decision, ACTION_REMOVE, object, 0);
	else if (observed_was_asked_to_end(object))
		kill_if_overdue(decision, object, object->kill_at);
	else
		ask_to_end(decision, object, grace);
}

/* The turn in which a replica is asked to stop. A chief under parameter servers saves on request,
 * with the tasks that hold the variables and those that run its steps. So may workers. */
static int stop_order_of(const struct decision *decision, const struct observed_replica *object)
{
	const struct role *role = job_role(decision->job, object->role);

	if (!role || role == job_leader_role(decision->job))
		return 0;
	return role->kind == ROLE_PS ? 2 : 1;
}

static bool is_any_before(const struct decision *decision, int turn)
{
	const struct observed *observed = decision->observed;

	for (size_t i = 0; i < observed->n_replicas; i++)
		if (observed_is_live(&observed->replicas[i]) &&
		    stop_order_of(decision, &observed->replicas[i]) < turn)
			return true;
	return false;
}

/* A replica of an earlier turn is still running and has its time alone. */
static bool has_to_wait(const struct decision *decision, const struct observed_replica *object,
			const struct ending *ending)
{
	static const int quarters_alone[] = {0, 2, 3}; /* of the grace period, before each turn */
	int turn = stop_order_of(decision, object);
	msec until = decision->status->ending_since + ending->grace * quarters_alone[turn] / 4;

	if (!ending->is_in_turns || decision->now >= until || !is_any_before(decision, turn))
		return false;
	plan_wake_at(decision->plan, until);
	return true;
}

/* The rest of the grace period. A replica that is asked very late, because no supervisor was
 * running, still gets some time. */
static msec remaining_stop_grace(const struct decision *decision, const struct ending *ending)
{
	msec left = decision->status->ending_since + ending->grace - decision->now;
	msec least = ending->grace / 4;

	if (!ending->is_in_turns)
		return ending->grace;
	return left < least ? least : msec_min(left, ending->grace);
}

static bool was_silent(const struct decision *decision, const struct observed_replica *object,
		       msec duration)
{
	msec last =
		object->printed_at > object->started_at ? object->printed_at : object->started_at;

	return last != MSEC_UNSET && decision->now - last >= duration;
}

/* The replica's activity is unknown: the job took too long, or is stopped after a silence, or a
 * peer has failed that may have waited for it. */
static bool keeps_stacks(const struct decision *decision, const struct observed_replica *object)
{
	const struct failure *failure = decision->status->failure;

	if (decision->job->stop_reason)
		return was_silent(decision, object, OUTPUT_IDLE_FIRST);
	if (failure && failure->role)
		return was_silent(decision, object, OUTPUT_IDLE_BEFORE_FAILURE);
	return failure && text_equals(failure->reason, FAILURE_TOO_LATE);
}

/* A job at rest ends its own replicas as its `ending` says. Those that we stopped are removed in
 * any case. A grace period that was shortened since counts. */
static void end_at_rest(struct decision *decision, const struct observed_replica *object,
			const struct ending *ending)
{
	bool was_asked = observed_was_asked_to_end(object);
	msec kill_at = object->stop_asked_at + ending->grace;

	if (object->is_unmade) { /* remove it even if others stay: it will never exist */
		ask_to_end(decision, object, 0);
	} else if (is_open(object)) {
		if (ending->ends_live)
			end_open(decision, object, ending->grace);
	} else if (!observed_is_live(object)) {
		if (ending->removes_all || (ending->ends_live && was_asked))
			act_on_object(decision, ACTION_REMOVE, object, 0);
	} else if (was_asked) {
		kill_if_overdue(decision, object,
				ending->ends_live ? msec_min(object->kill_at, kill_at)
						  : object->kill_at);
	} else if (ending->ends_live && !has_to_wait(decision, object, ending)) {
		ask_to_end(decision, object, remaining_stop_grace(decision, ending));
		struct action *action = &decision->plan->actions[decision->plan->n_actions - 1];

		action->keeps_stacks =
			action->type == ACTION_STOP && keeps_stacks(decision, object);
	}
}

static void end_objects(struct decision *decision)
{
	const struct observed *observed = decision->observed;
	bool is_at_rest = decision_is_at_rest(decision);
	struct ending ending = finish_ending(decision);

	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *object = &observed->replicas[i];
		const struct replica *replica =
			decision_find(decision, object->role, object->index);

		if (!replica || replica->object != object)
			end_leftover(decision, object, finish_grace_of_leftover(decision));
		else if (!replica->is_wanted)
			end_leftover(decision, object, decision->job->grace);
		else if (is_at_rest)
			end_at_rest(decision, object, &ending);
		else if (observed_is_live(object) && observed_was_asked_to_end(object))
			kill_if_overdue(decision, object, object->kill_at);
	}
}

/* A replica that was scaled away has finished, however it ended. If wanted again, it restarts. */
static bool is_unwanted_replica_over(const struct replica *replica)
{
	enum replica_state state = replica->status->state;

	return !replica->is_wanted &&
	       (state == REPLICA_PENDING || state == REPLICA_SUCCEEDED || state == REPLICA_FAILED);
}

/* Written before any replica is asked to stop, so that an end after this is ours. */
static void mark_ending(struct decision *decision)
{
	bool is_at_rest = decision_is_at_rest(decision);
	bool is_finished = status_is_finished(decision->status);
	struct ending ending = finish_ending(decision);
	msec *since = &decision->status->ending_since;

	if (!is_at_rest)
		*since = MSEC_UNSET;
	else if (*since == MSEC_UNSET && ending.is_in_turns && ending.ends_live &&
		 decision->observed->n_replicas)
		*since = decision->now;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];
		enum replica_state *state = &replica->status->state;

		if (replica->is_wanted && !is_at_rest)
			continue;
		if (is_unwanted_replica_over(replica) || (*state == REPLICA_PENDING && is_finished))
			*state = REPLICA_STOPPED;
		if ((*state == REPLICA_RUNNING || *state == REPLICA_STARTING) &&
		    (!replica->is_wanted || ending.ends_live ||
		     (replica->object && replica->object->is_unmade)))
			*state = REPLICA_STOPPING;
	}
}

/* An address is unpublished when nothing is left that could answer there. A member offers its
 * addresses to other machines, so they stay published as long as it is a member. */
static void unpublish(struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;
	bool is_at_rest = decision_is_at_rest(decision);
	bool removes_all = finish_ending(decision).removes_all;

	if (world && !world->is_over)
		return;
	for (size_t i = 0; i < decision->observed->n_addresses; i++) {
		const struct observed_address *address = &decision->observed->addresses[i];
		struct replica *replica = decision_find(decision, address->role, address->index);
		bool is_kept =
			replica && replica->is_wanted &&
			!(is_at_rest && (removes_all || replica->status->state == REPLICA_STOPPED));

		if (is_kept || (replica && (replica->object || replica->n_older)))
			continue;
		decision_act(decision, ACTION_UNPUBLISH, address->role, address->index, 0, 0);
	}
}

void ending_plan(struct decision *decision)
{
	mark_ending(decision);
	end_objects(decision);
	unpublish(decision);
}

/* Stops without effect. */

#define SLOW_STOP_TIME (5 * MSEC_PER_SECOND)

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

	return kill_at > decision->now && kill_at > object->stop_asked_at + SLOW_STOP_TIME;
}

/* True at any later moment, so that it is written and reported once. */
static const char *describe_late_stop(const struct decision *decision,
				      const struct observed_replica *object)
{
	int signal = stop_signal_of(decision->job);
	const char *reason = decision->job->stop_reason;
	char *name CLEANUP(mem_free_text) = stop_signal_format(signal);
	struct text message CLEANUP(text_done) = {0};

	text_addf(&message, "%s did not stop it within ", name);
	text_add_duration(&message, SLOW_STOP_TIME);
	text_add(&message, "; SIGKILL follows in ");
	text_add_duration(&message,
			  kill_at_of(decision, object) - object->stop_asked_at - SLOW_STOP_TIME);
	/* Only for a stop: a user who scales down does not want the job to end. */
	if (reason)
		text_addf(&message, " (immediately: `muster stop --now %s`%s)", decision->job->name,
			  text_equals(reason, stop_reason_words[STOP_INTERRUPTED])
				  ? ", or Ctrl-C again"
				  : "");
	if (signal == SIGTERM && object->has_tensorflow && !decision->job->elastic_id)
		text_add(&message, ". TensorFlow treats SIGTERM as a preemption notice and keeps "
				   "training unless the script handles it; `muster run "
				   "--stop-signal INT` stops one that trains, and `--grace 5s` "
				   "shortens the wait");
	return arena_copy_text(decision->arena, text_of(&message));
}

static void mark_late_stop(const struct decision *decision, const struct observed_replica *object,
			   msec at)
{
	const struct replica *replica = decision_find(decision, object->role, object->index);
	/* A reported replica stays reported when others are asked to stop after it. */
	bool is_late = replica && (decision->now >= at ||
				   text_equals(replica->last_reason, FAILURE_STILL_RUNS));

	if (!is_late || !awaits_kill(decision, object) ||
	    (replica->status->state != REPLICA_PENDING &&
	     replica->status->state != REPLICA_STOPPING))
		return;
	replica->status->reason = FAILURE_STILL_RUNS;
	replica->status->is_reason_from_elsewhere = true;
	replica->status->message = describe_late_stop(decision, object);
}

void slow_stops_find(struct decision *decision)
{
	msec asked_at = MSEC_UNSET;

	if (!decision->observed->traits.sends_signals)
		return;
	/* Replicas that were asked together are reported together, when the last of them had its
	 * time. */
	for (size_t i = 0; i < decision->observed->n_replicas; i++) {
		const struct observed_replica *object = &decision->observed->replicas[i];

		if (awaits_kill(decision, object) && object->stop_asked_at > asked_at)
			asked_at = object->stop_asked_at;
	}
	msec at = asked_at == MSEC_UNSET ? MSEC_NEVER : asked_at + SLOW_STOP_TIME;

	if (decision->now < at)
		plan_wake_at(decision->plan, at);
	for (size_t i = 0; i < decision->observed->n_replicas; i++)
		mark_late_stop(decision, &decision->observed->replicas[i], at);
}
