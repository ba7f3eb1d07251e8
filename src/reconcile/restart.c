/* Restart policies (Kubeflow's), restartScope (ours), backoffLimit and the delay between restarts.
 *
 * A restart is only a higher attempt number in the status: the old attempt becomes a leftover,
 * which the rest of the decision ends and removes. A replica that restarts alone has its own delay,
 * like a container in kubelet's CrashLoopBackOff, and delays no other. */
#include "reconcile/steps.h"

#include "base/text.h"
#include "reconcile/failure.h"
#include "reconcile/finish.h"
#include "spec/limits.h"
#include "status/restart_delay.h"

#define FIRST_RETRYABLE_CODE 128 /* training-operator pkg/util/train/train_util.go */

/* enableDynamicWorker: workers come and go, so one that failed under Never is not missed. */
static bool is_failure_tolerated(const struct decision *decision, const struct replica *replica)
{
	return decision->job->is_dynamic && replica->role->kind == ROLE_WORKER &&
	       replica->role->restart_policy == RESTART_NEVER;
}

static bool needs_answer(const struct decision *decision, const struct replica *replica)
{
	if (!replica->is_wanted)
		return false;
	if (replica->status->state == REPLICA_FAILED)
		return !is_failure_tolerated(decision, replica);
	return replica->status->state == REPLICA_SUCCEEDED &&
	       replica->role->restart_policy == RESTART_ALWAYS;
}

/* ExitCode: 1 to 127 are the program's own errors, from 128 on the environment's. Without a code
 * the program is not blamed, unless it could not even be started. */
static bool is_code_retryable(const struct replica *replica)
{
	const struct replica_status *status = replica->status;

	if (replica->is_disrupted || status->signal)
		return true;
	if (status->exit_code >= 0)
		return status->exit_code >= FIRST_RETRYABLE_CODE;
	return !text_equals(status->reason, FAILURE_START_FAILED);
}

static bool is_restartable(const struct replica *replica)
{
	enum restart_policy policy = replica->role->restart_policy;

	if (policy == RESTART_NEVER || text_equals(replica->status->reason, FAILURE_REFUSED))
		return false;
	return policy != RESTART_EXIT_CODE || is_code_retryable(replica);
}

/* The ended replicas found by one pass. */
struct answer {
	struct replica *first; /* ended first; among equal times the first by role and index */
	struct replica *fatal; /* the first that may not restart; NULL: all may */
	struct replica *whole; /* the first that restarts the whole job; NULL: none */
	struct replica *counted; /* the first that counts toward the backoffLimit; NULL: none */
	int n_counted; /* number of restarts that count */
};

/* A Pod that another client deleted counts as ended: its peers fail because of that. */
static msec replica_end_time_of(const struct decision *decision, const struct replica *replica)
{
	if (replica->is_disrupted && replica->object &&
	    replica->object->stop_asked_at != MSEC_UNSET)
		return replica->object->stop_asked_at;
	return replica->status->end_time == MSEC_UNSET ? decision->now : replica->status->end_time;
}

/* The one that ended first; `known` may be NULL. */
static struct replica *earlier(const struct decision *decision, struct replica *replica,
			       struct replica *known)
{
	return !known || replica_end_time_of(decision, replica) <
				       replica_end_time_of(decision, known)
		       ? replica
		       : known;
}

/* On a cluster, a TFJob must not fail because others delete its Pods, as by draining a node. */
static bool is_counted(const struct decision *decision, const struct replica *replica)
{
	return !decision->observed->traits.repeats_attempts || !replica->is_disrupted;
}

static void add_to_answer(const struct decision *decision, struct replica *replica,
			  struct answer *answer)
{
	answer->first = earlier(decision, replica, answer->first);
	if (!is_restartable(replica))
		answer->fatal = earlier(decision, replica, answer->fatal);
	if (job_restarts_whole(decision->job, replica->role))
		answer->whole = earlier(decision, replica, answer->whole);
	if (!is_counted(decision, replica))
		return;
	answer->counted = earlier(decision, replica, answer->counted);
	answer->n_counted++;
}

static struct answer find_answer(const struct decision *decision)
{
	struct answer answer = {0};

	for (size_t i = 0; i < decision->n_replicas; i++)
		if (needs_answer(decision, &decision->replicas[i]))
			add_to_answer(decision, &decision->replicas[i], &answer);
	/* Peers fail with the replica whose loss restarts the job. How they failed does not matter,
	 * whether seen in the same pass or after the restart began. */
	if (answer.first && job_restarts_whole(decision->job, answer.first->role) &&
	    is_restartable(answer.first))
		answer.fatal = NULL;
	if (answer.whole) {
		answer.counted = is_counted(decision, answer.whole) ? answer.whole : NULL;
		answer.n_counted = answer.counted != NULL;
	}
	return answer;
}

/* The time of the next start after an attempt that lived this long. */
static msec schedule(const struct decision *decision, msec lived, int *recent)
{
	if (lived >= RESTART_LONG_LIFE)
		*recent = 0;
	msec delay = restart_delay((*recent)++);

	return delay ? decision->now + delay : MSEC_UNSET;
}

/* "worker-1 exited with code 3 after 2s (attempt 0): restarting the whole job in 1s (restart 2 of
 * 3)" */
static void report_replica_restart(struct decision *decision, const char *what_failed,
				   const char *who, msec restart_at, bool is_one_counted)
{
	struct text sentence CLEANUP(text_done) = {0};
	int limit = decision->job->backoff_limit;

	text_addf(&sentence, "%s: restarting %s", what_failed, who);
	if (restart_at != MSEC_UNSET) {
		text_add(&sentence, " in ");
		text_add_duration(&sentence, restart_at - decision->now);
	}
	if (is_one_counted)
		text_addf(&sentence, " (restart %d", decision->status->restarts);
	if (is_one_counted && limit >= 0)
		text_addf(&sentence, " of %d", limit);
	text_add(&sentence, is_one_counted ? ")" : "");
	decision_note(decision, NOTE_WARNING, "ReplicaRestarting",
		      arena_copy_text(decision->arena, text_of(&sentence)));
}

/* All replicas restart at the same moment, even those that waited for their own delay. */
static void restart_whole_job(struct decision *decision, const struct failure *failure,
			      bool is_one_counted)
{
	msec restart_at = schedule(decision, failure->lived, &decision->status->recent_restarts);

	decision->status->restarts += is_one_counted;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];

		if (!replica->is_wanted)
			continue;
		/* A replica that has not started needs no new attempt. */
		if (replica->status->state != REPLICA_PENDING) {
			replica->status->restarts++;
			replica_begin_attempt(replica);
		}
		replica->status->recent_restarts = 0;
		replica->status->restart_at = restart_at;
	}
	report_replica_restart(decision, failure->message, "the whole job", restart_at,
			       is_one_counted);
}

/* Begins the next attempt of one replica, after one that lived this long. */
static void begin_again(const struct decision *decision, struct replica *replica, msec lived)
{
	struct replica_status *status = replica->status;
	int recent = status->recent_restarts;
	msec restart_at = schedule(decision, lived, &recent);

	replica_begin_attempt(replica);
	status->recent_restarts = recent;
	status->restart_at = restart_at;
}

static void restart(struct decision *decision, const struct answer *answer)
{
	struct failure *failure = failure_of_replica(decision, answer->first);
	const char *message =
		arena_format(decision->arena, "job %s is restarting because %s replica(s) failed.",
			     decision->job->name, answer->first->role->title);

	failure_add_consequences(decision, answer->first, answer->whole != NULL, failure);
	decision->status->failure = failure;
	decision->plan->is_failure_new = true;
	if (answer->whole)
		restart_whole_job(decision, failure, answer->n_counted > 0);
	for (size_t i = 0; !answer->whole && i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];

		if (!needs_answer(decision, replica))
			continue;
		const struct failure *own = failure_of_replica(decision, replica);
		bool is_one_counted = is_counted(decision, replica);

		decision->status->restarts += is_one_counted;
		replica->status->restarts++;
		begin_again(decision, replica, own->lived);
		report_replica_restart(decision, own->message, "it", replica->status->restart_at,
				       is_one_counted);
	}
	decision_set_condition(decision, CONDITION_RESTARTING, true, "TFJobRestarting", message);
	decision_note(decision, NOTE_WARNING, "TFJobRestarting", message);
}

static bool has_never_run(const struct replica *replica)
{
	return replica->is_disrupted &&
	       (replica->last_state == REPLICA_PENDING ||
		replica->last_state == REPLICA_STARTING) &&
	       replica->status->start_time == MSEC_UNSET;
}

/* True for a replica of a TFJob that another client deleted before it ran: nothing was lost. Also
 * for a worker whose failure is tolerated, once its Pod has been deleted. They are created again
 * under every policy, alone, each time a little later; the backoffLimit does not count it. Jobs of
 * `run` still end if every attempt loses its Pod. */
static bool is_recreated(const struct decision *decision, const struct replica *replica)
{
	if (!decision->observed->traits.repeats_attempts || !replica->is_wanted ||
	    replica->status->state != REPLICA_FAILED)
		return false;
	return has_never_run(replica) || (is_failure_tolerated(decision, replica) &&
					  (replica->is_disrupted || !replica->object));
}

static void recreate(struct decision *decision, struct replica *replica)
{
	const struct failure *failure = failure_of_replica(decision, replica);
	bool has_run = !has_never_run(replica);
	const char *when = has_run ? "" : " before it ran";

	replica->status->restarts += has_run;
	begin_again(decision, replica, failure->lived);
	decision_note(
		decision, NOTE_WARNING, "ReplicaRestarting",
		arena_format(decision->arena, "%s%s: creating it again", failure->message, when));
}

static bool is_over_limit(const struct decision *decision, int n_more)
{
	int limit = decision->job->backoff_limit;

	return limit >= 0 && decision->status->restarts + n_more > limit;
}

/* Restarts by a kubelet, of the container of a TFJob's Pod in place. They are counted like ours. */

/* As if its last process were its only one. */
static struct replica as_ended(const struct decision *decision, const struct replica *replica)
{
	const struct observed_end *end = &replica->object->last_end;
	struct replica_status *status = arena_take(decision->arena, sizeof(*status));
	struct replica ended = *replica;

	*status = *replica->status;
	status->exit_code = end->exit_code;
	status->signal = end->signal;
	status->reason = end->reason;
	status->message = NULL;
	status->start_time = end->started_at;
	status->end_time = end->ended_at;
	ended.status = status;
	return ended;
}

static bool has_ended_in_place(const struct replica *replica)
{
	return replica->is_wanted && replica_is_live(replica) &&
	       replica->object->n_ends_in_place > replica->status->ends_in_place;
}

static void count_in_place(struct decision *decision, struct replica *replica)
{
	struct replica_status *status = replica->status;
	int n_new = replica->object->n_ends_in_place - status->ends_in_place;
	int room = LIMIT_RESTARTS - decision->status->restarts;

	status->ends_in_place += n_new;
	n_new = n_new < room ? n_new : room; /* the number comes from the node */
	status->restarts += n_new;
	decision->status->restarts += n_new;
}

/* Whether that was one restart too many, which ends the job. */
static bool answer_in_place(struct decision *decision, struct replica *replica)
{
	struct replica ended = as_ended(decision, replica);
	struct failure *failure = failure_of_replica(decision, &ended);

	count_in_place(decision, replica);
	if (is_over_limit(decision, 0)) {
		finish_on_backoff_limit(decision, replica, failure);
		return true;
	}
	decision->status->failure = failure;
	decision->plan->is_failure_new = true;
	report_replica_restart(decision, failure->message, "it", MSEC_UNSET, true);
	return false;
}

bool restart_or_fail(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++)
		if (is_recreated(decision, &decision->replicas[i]))
			recreate(decision, &decision->replicas[i]);
	for (size_t i = 0; i < decision->n_replicas; i++)
		if (has_ended_in_place(&decision->replicas[i]) &&
		    answer_in_place(decision, &decision->replicas[i]))
			return true;
	struct answer answer = find_answer(decision);

	if (!answer.first)
		return false;
	if (answer.fatal)
		finish_on_failure(decision, answer.fatal);
	else if (answer.counted && is_over_limit(decision, answer.n_counted))
		finish_on_backoff_limit(decision, answer.counted,
					failure_of_replica(decision, answer.counted));
	else if (!finish_if_too_late(decision))
		restart(decision, &answer);
	return true;
}

/* Addresses and starts. */

/* A new replica must not meet a peer of an old attempt, unless the job is dynamic. */
static bool is_old_peer_live(const struct decision *decision)
{
	if (decision->job->restart_scope == RESTART_SCOPE_REPLICA)
		return false;
	for (size_t i = 0; i < decision->n_replicas; i++)
		if (decision->replicas[i].is_older_live)
			return true;
	return false;
}

/* A replica that waits for a delay waits alone: the others start. */
static void start_missing(struct decision *decision)
{
	bool is_old_peer_there = is_old_peer_live(decision);

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];
		struct replica_status *status = replica->status;
		bool is_way_free =
			!replica->is_older_live &&
			(replica->n_older == 0 || decision->observed->traits.names_carry_attempt);

		if (!replica->is_wanted || status->state != REPLICA_PENDING || is_old_peer_there ||
		    !is_way_free)
			continue;
		/* A clock that was set back since does not delay a restart. */
		if (status->restart_at > decision->now &&
		    status->restart_at - decision->now <= RESTART_LONGEST_DELAY) {
			plan_wake_at(decision->plan, status->restart_at);
			continue;
		}
		if (decision->status->start_time == MSEC_UNSET)
			decision->status->start_time = decision->now;
		status->restart_at = MSEC_UNSET;
		decision_act(decision, ACTION_START, status->role, status->index, status->attempt,
			     0);
	}
}

/* Addresses first: every process gets the addresses of all others at its start. */
void missing_plan(struct decision *decision)
{
	bool is_complete = true;

	if (decision_is_at_rest(decision))
		return;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (!replica->is_wanted || replica->address)
			continue;
		is_complete = false;
		decision_act(decision, ACTION_PUBLISH, replica->status->role,
			     replica->status->index, 0, 0);
	}
	if (is_complete && !decision->observed->holds_starts)
		start_missing(decision);
}

/* Scaling.
 *
 * For its processes, a synchronous job of another size is another job. Each got the list of all
 * others at its start, and TensorFlow answers an unknown task by ending all tasks ("Unexpected task
 * registered").
 *
 * The running size is the recorded one. A wanted replica that was not recorded, or was stopped
 * since, was added. A recorded replica at work that is not wanted was removed. Each change is seen
 * once, because the new status records the present replicas. */

/* If the job no longer has a replica's role, the role's world is gone too. */
static bool changes_size(const struct decision *decision, const struct replica *replica)
{
	enum replica_state last = replica->last_state;
	bool was_ended = last == REPLICA_STOPPING || last == REPLICA_STOPPED;
	bool was_at_work =
		replica->is_remembered &&
		(last == REPLICA_PENDING || last == REPLICA_STARTING || last == REPLICA_RUNNING);
	bool has_changed = replica->is_wanted ? !replica->is_remembered || was_ended : was_at_work;

	return has_changed && (!replica->role || job_resizes_whole(decision->job, replica->role));
}

/* Replicas that have not started yet will get the new size. */
static bool is_any_at_work(const struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (replica->is_wanted && replica_is_live(replica) &&
		    job_resizes_whole(decision->job, replica->role))
			return true;
	}
	return false;
}

static void report_resize_restart(struct decision *decision)
{
	const char *message =
		arena_format(decision->arena, "job %s is restarting because it was scaled.",
			     decision->job->name);
	struct text sentence CLEANUP(text_done) = {0};

	text_add(&sentence, "the job was scaled to ");
	job_describe_size(decision->job, &sentence);
	text_add(&sentence, ": restarting all replicas; the running processes have ");
	text_add_duration(&sentence, decision->job->grace);
	text_add(&sentence, " to exit");
	decision_set_condition(decision, CONDITION_RESTARTING, true, "TFJobScaled", message);
	decision_note(decision, NOTE_NORMAL, "TFJobScaled",
		      arena_copy_text(decision->arena, text_of(&sentence)));
}

void resize_if_scaled(struct decision *decision)
{
	bool has_changed = false;
	bool is_first_observation = true;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		has_changed |= changes_size(decision, &decision->replicas[i]);
		is_first_observation &= !decision->replicas[i].is_remembered;
	}
	if (!has_changed || is_first_observation || !is_any_at_work(decision))
		return;
	/* the field tells why the job last restarted, which was no failure */
	decision->status->failure = NULL;
	decision->plan->is_failure_new = false;
	decision_forget_delays(decision);
	decision_begin_all_attempts(decision);
	report_resize_restart(decision);
}
