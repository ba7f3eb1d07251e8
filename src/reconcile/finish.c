/* Success policies, failures without a restart, deadline, stop, and cleanPodPolicy.
 *
 * Messages are training-operator's (pkg/controller.v1/tensorflow/tfjob_controller.go and
 * pkg/controller.v1/common/job.go), full stops and quotes included. */
#include "reconcile/finish.h"

#include "base/exit_code.h"
#include "reconcile/failure.h"
#include "reconcile/waiting_reason.h"
#include "status/failure_words.h"

#include <signal.h>

#define GRACE_AFTER_FAILURE MSEC_PER_SECOND
#define GRACE_AFTER_SUCCESS (5 * MSEC_PER_SECOND)

static int count_in_state(const struct decision *decision, const struct role *role,
			  enum replica_state state)
{
	int count = 0;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		count += replica->is_wanted && replica->role == role &&
			 replica->status->state == state;
	}
	return count;
}

/* Under the policy Always, exit code 0 is no success: the replica is restarted, as kubelet does. */
static int count_succeeded(const struct decision *decision, const struct role *role)
{
	return role->restart_policy == RESTART_ALWAYS
		       ? 0
		       : count_in_state(decision, role, REPLICA_SUCCEEDED);
}

static bool has_role_succeeded(const struct decision *decision, const struct role *role)
{
	return count_succeeded(decision, role) == role->replicas;
}

static bool has_worker_0_succeeded(const struct decision *decision, const struct role *worker)
{
	const struct replica *first = decision_find(decision, worker->name, 0);

	return first && first->is_wanted && worker->restart_policy != RESTART_ALWAYS &&
	       first->status->state == REPLICA_SUCCEEDED;
}

static bool has_succeeded(const struct decision *decision)
{
	const struct job *job = decision->job;
	const struct role *role = job_deciding_role(job);

	if (role)
		return has_role_succeeded(decision, role) ||
		       (role->kind == ROLE_WORKER && job->success_policy == SUCCESS_DEFAULT &&
			has_worker_0_succeeded(decision, role));
	if (decision->observed->traits.waits_for_workers)
		return false;
	for (size_t i = 0; i < job->n_roles; i++)
		if (!has_role_succeeded(decision, &job->roles[i]))
			return false;
	return true;
}

/* `told` is the Event's message, if it differs from the condition's; else NULL. */
static void finish_decided_job(struct decision *decision, enum condition_type type,
			       const char *reason, const char *message, const char *told,
			       int exit_code)
{
	struct status *status = decision->status;

	decision_set_condition(decision, type, true, reason, message);
	status->completion_time = decision->now;
	status->exit_code = exit_code;
	decision_forget_delays(decision);
	decision_note(decision, NOTE_NORMAL, reason, told ? told : message);
}

static void succeed(struct decision *decision)
{
	const struct job *job = decision->job;

	decision->status->failure = NULL;
	finish_decided_job(decision, CONDITION_SUCCEEDED, "TFJobSucceeded",
			   arena_format(decision->arena, "TFJob %s/%s successfully completed.",
					job->name_space, job->name),
			   NULL, 0);
}

bool finish_if_succeeded(struct decision *decision)
{
	if (!has_succeeded(decision))
		return false;
	succeed(decision);
	return true;
}

static void store_job_failure(struct decision *decision, struct failure *failure)
{
	decision->status->failure = failure;
	decision->plan->is_failure_new = failure->role != NULL;
}

static void fail_decided_job(struct decision *decision, const char *reason, const char *message,
			     struct failure *failure, int exit_code)
{
	store_job_failure(decision, failure);
	finish_decided_job(decision, CONDITION_FAILED, reason, message, NULL, exit_code);
}

/* " (interrupted)"; nothing if the word would only repeat "stopped". */
static const char *describe_stop(const struct decision *decision)
{
	const char *reason = decision->job->stop_reason;

	return text_equals(reason, stop_reason_words[STOP_REQUESTED])
		       ? ""
		       : arena_format(decision->arena, " (%s)", reason);
}

void finish_if_stopped(struct decision *decision)
{
	const struct job *job = decision->job;

	for (size_t i = 0; i < decision->n_replicas; i++)
		if (replica_is_live(&decision->replicas[i]) || decision->replicas[i].is_older_live)
			return;
	const char *by = describe_stop(decision);
	const char *why = arena_format(decision->arena, "the job was stopped%s", by);
	const char *message = arena_format(decision->arena, "TFJob %s/%s was stopped%s.",
					   job->name_space, job->name, by);

	fail_decided_job(decision, "TFJobStopped", message,
			 failure_of_job(decision, FAILURE_STOPPED, why),
			 stop_reason_exit_code(job->stop_reason));
}

void finish_as_lost(struct decision *decision, const char *reason, const char *why)
{
	const struct job *job = decision->job;
	const char *message = arena_format(decision->arena, "TFJob %s/%s has failed because %s.",
					   job->name_space, job->name, why);

	fail_decided_job(decision, arena_format(decision->arena, "TFJob%s", reason), message,
			 failure_of_job(decision, reason, why), EXIT_INTERNAL);
}

/* How the job ended on all machines, if this machine did not end it. */
struct end_of_all {
	const char *reason, *why;
	int exit_code;
};

static const struct end_of_all ends_of_all[RENDEZVOUS_VERDICT_COUNT] = {
	[RENDEZVOUS_OPEN] = {"ServerLost", "the job's server could not be reached",
			     EXIT_NOT_REACHED},
	[RENDEZVOUS_FAILED] = {"JobFailed", "a process failed, and no restart was left",
			       EXIT_FAILED},
	[RENDEZVOUS_NO_PROGRESS] = {"NoProgress", "the processes failed too often without progress",
				    EXIT_NO_PROGRESS},
	[RENDEZVOUS_TIMED_OUT] = {"TooFewMembers", "too few machines took part for too long",
				  EXIT_OVERDUE},
	[RENDEZVOUS_STOPPED] = {FAILURE_STOPPED, "the job was stopped", EXIT_FAILED},
};

static const struct end_of_all drained = {FAILURE_STOPPED, "this machine was drained",
					  EXIT_BY_SIGNAL + SIGTERM};

/* The last of the failures that came too often. */
static struct failure *without_progress(const struct decision *decision,
					const struct failure *failure)
{
	struct failure *last = status_failure_copy(failure, decision->arena);

	last->message = arena_format(
		decision->arena,
		"%s; muster does not restart a job without progress (--max-no-progress)",
		failure->message);
	return last;
}

/* A process of this machine failed while the server was silent, which may be why. NULL: none did.
 */
static struct failure *failed_without_server(const struct decision *decision,
					     const struct observed_world *world)
{
	const struct failure *own = decision->status->failure;

	if (world->verdict != RENDEZVOUS_OPEN || !world->why || !own || !own->role ||
	    own->machine || own->attempt != world->ranks_of)
		return NULL;
	struct failure *failure = status_failure_copy(own, decision->arena);

	if (!failure->cause)
		failure->cause = world->why;
	return failure;
}

/* A failed process of this machine is the cause, or the nearest to it that this machine knows. */
static void fail_with_all(struct decision *decision, const struct observed_world *world)
{
	bool is_drained = world->verdict == RENDEZVOUS_OPEN && !world->why;
	const struct end_of_all *end = is_drained ? &drained : &ends_of_all[world->verdict];
	const char *why = world->why ? world->why : end->why;
	struct failure *failure = decision->status->failure;
	struct failure *alone = failed_without_server(decision, world);

	bool is_by_process =
		world->verdict == RENDEZVOUS_FAILED || world->verdict == RENDEZVOUS_NO_PROGRESS;

	/* "too few machines took part for too long, after 10.0.0.2 (machine 1) was lost" */
	if (world->verdict == RENDEZVOUS_TIMED_OUT && failure &&
	    text_equals(failure->reason, FAILURE_MACHINE_LOST))
		why = arena_format(decision->arena, "%s, after %s", why, failure->message);
	if (alone)
		failure = alone;
	else if (!is_by_process || !failure || !failure->role)
		failure = failure_of_job(decision, end->reason, why);
	else if (world->verdict == RENDEZVOUS_NO_PROGRESS)
		failure = without_progress(decision, failure);
	fail_decided_job(decision, "TFJobFailed",
			 arena_format(decision->arena, "TFJob %s/%s has failed because %s.",
				      decision->job->name_space, decision->job->name, why),
			 failure, end->exit_code);
}

void finish_as_member(struct decision *decision, const struct observed_world *world)
{
	if (world->verdict == RENDEZVOUS_SUCCEEDED)
		succeed(decision);
	else if (decision->job->stop_reason)
		finish_if_stopped(decision);
	else
		fail_with_all(decision, world);
}

bool finish_if_too_late(struct decision *decision)
{
	msec deadline = decision->status->start_time + decision->job->active_deadline;

	if (decision->job->active_deadline < 0 || decision->status->start_time == MSEC_UNSET)
		return false;
	if (decision->now < deadline) {
		plan_wake_at(decision->plan, deadline);
		return false;
	}
	struct text why CLEANUP(text_done) = {0};

	text_add(&why, "the job was active longer than its deadline of ");
	text_add_duration(&why, decision->job->active_deadline);
	waiting_reason_add_first(decision->status, "; ", &why);
	fail_decided_job(
		decision, "TFJobFailed",
		arena_format(
			decision->arena,
			"Job %s has failed because it was active longer than specified deadline",
			decision->job->name),
		failure_of_job(decision, FAILURE_TOO_LATE,
			       arena_copy_text(decision->arena, text_of(&why))),
		EXIT_OVERDUE);
	return true;
}

static void add_consequences(const struct decision *decision, const struct replica *failed,
			     struct failure *failure)
{
	const struct backend_traits *traits = &decision->observed->traits;
	bool ends_survivors =
		traits->ends_finished_jobs || decision->job->clean_policy != CLEAN_NONE;

	failure_add_consequences(decision, failed, ends_survivors, failure);
}

void finish_on_failure(struct decision *decision, const struct replica *failed)
{
	struct failure *failure = failure_of_replica(decision, failed);
	const char *told = arena_format(
		decision->arena, "TFJob %s/%s has failed because %d %s replica(s) failed.",
		decision->job->name_space, decision->job->name,
		count_in_state(decision, failed->role, REPLICA_FAILED), failed->role->title);
	const char *message = told;

	add_consequences(decision, failed, failure);
	if (failed->role->restart_policy == RESTART_EXIT_CODE) {
		message = arena_format(decision->arena,
				       "job \"%s\" is failing because \"%s\" replica(s) failed.",
				       decision->job->name, failed->role->title);
		decision_note(decision, NOTE_WARNING, "TFJobFailed", message);
	}
	store_job_failure(decision, failure);
	finish_decided_job(decision, CONDITION_FAILED, "TFJobFailed", message, told,
			   failure_exit_code(failure));
}

void finish_on_backoff_limit(struct decision *decision, const struct replica *failed,
			     struct failure *failure)
{
	add_consequences(decision, failed, failure);
	fail_decided_job(
		decision, "TFJobFailed",
		arena_format(decision->arena,
			     "Job %s has failed because it has reached the specified backoff limit",
			     decision->job->name),
		failure, failure_exit_code(failure));
}

void finish_if_nobody_is_left(struct decision *decision)
{
	const struct role *worker = job_deciding_role(decision->job);

	if (!decision->job->is_dynamic || !worker || worker->kind != ROLE_WORKER)
		return;
	const struct replica *first = NULL;
	int n_ended = count_succeeded(decision, worker) +
		      count_in_state(decision, worker, REPLICA_FAILED);

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (replica->is_wanted && replica->role == worker &&
		    replica->status->state == REPLICA_FAILED &&
		    (!first || replica->status->end_time < first->status->end_time))
			first = replica;
	}
	if (first && n_ended == worker->replicas)
		finish_on_failure(decision, first);
}

msec finish_grace_of_leftover(const struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;
	const struct failure *failure = decision->status->failure;
	bool may_save = world ? world->may_save : !failure || !failure->role;
	msec grace = decision->job->grace;

	if (decision->observed->traits.gives_whole_grace || decision->job->survivors_may_save)
		return grace;
	for (size_t i = 0; i < decision->observed->n_replicas; i++)
		may_save |= decision->observed->replicas[i].has_torch &&
			    !decision->observed->replicas[i].has_tensorflow;
	return may_save ? grace : msec_min(grace, GRACE_AFTER_FAILURE);
}

/* A planned end leaves time to save: a stop, a suspension, a deadline. */
static bool is_planned(const struct status *status)
{
	return !status_is_finished(status) || (status->failure && !status->failure->role);
}

/* When the leader has finished, servers have nothing to save, and workers a last line to print. */
static msec grace_of_ending(const struct decision *decision)
{
	msec grace = decision->job->grace;

	if (decision->observed->traits.gives_whole_grace)
		return grace;
	if (decision->observed->world)
		return finish_grace_of_leftover(decision);
	if (is_planned(decision->status))
		return grace;
	if (status_condition_is_true(decision->status, CONDITION_SUCCEEDED))
		return msec_min(grace, GRACE_AFTER_SUCCESS);
	return finish_grace_of_leftover(decision);
}

struct ending finish_ending(const struct decision *decision)
{
	const struct job *job = decision->job;
	bool is_finished = status_is_finished(decision->status);
	bool is_expired = expiry_of_job(job, decision->status) <= decision->now;
	struct ending ending = {
		.grace = grace_of_ending(decision),
		.is_in_turns = job_role_of_kind(job, ROLE_PS) && is_planned(decision->status),
	};

	if (!is_finished || is_expired || decision->observed->traits.ends_finished_jobs) {
		ending.ends_live = ending.removes_all = true;
	} else {
		ending.ends_live = job->clean_policy != CLEAN_NONE;
		ending.removes_all = job->clean_policy == CLEAN_ALL;
	}
	return ending;
}

/* Deletion. */

/* training-operator could leave a finished job without a completion time. */
static msec finished_at(const struct status *status)
{
	const struct condition *failed = status_condition(status, CONDITION_FAILED);
	const struct condition *end =
		failed ? failed : status_condition(status, CONDITION_SUCCEEDED);

	return status->completion_time == MSEC_UNSET && end ? end->last_transition
							    : status->completion_time;
}

msec expiry_of_job(const struct job *job, const struct status *status)
{
	bool is_kept = job->ttl_after_finished < 0 || job->is_suspended;

	return is_kept || !status_is_finished(status)
		       ? MSEC_NEVER
		       : finished_at(status) + job->ttl_after_finished;
}
