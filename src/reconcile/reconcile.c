/* The decision as a recipe: each step works on the result of the steps before it, and changes the
 * new status or adds to the plan.
 *
 * Success is checked before failure: a job that reached its goal has succeeded, whatever failed at
 * the same moment (TFJob could show both ends at the same time). No step reads a clock or keeps
 * state between two decisions. */
#include "reconcile/reconcile.h"

#include "reconcile/decision.h"
#include "reconcile/failure.h"
#include "reconcile/finish.h"
#include "reconcile/steps.h"
#include "reconcile/waiting_reason.h"

static void set_created(struct decision *decision)
{
	decision_set_condition(
		decision, CONDITION_CREATED, true, "TFJobCreated",
		arena_format(decision->arena, "TFJob %s is created.", decision->job->name));
}

/* Running turns to False with the reason of the suspension; the restart delay is cleared. */
static void suspend(struct decision *decision)
{
	struct status *status = decision->status;
	const char *message =
		arena_format(decision->arena, "TFJob %s is suspended.", decision->job->name);

	if (status_condition_is_true(status, CONDITION_SUSPENDED))
		return;
	if (status_condition_is_true(status, CONDITION_RUNNING))
		decision_set_condition(decision, CONDITION_RUNNING, false, "TFJobSuspended",
				       message);
	if (status_condition_is_true(status, CONDITION_QUEUED))
		decision_set_condition(decision, CONDITION_QUEUED, false, "TFJobSuspended",
				       message);
	decision_set_condition(decision, CONDITION_SUSPENDED, true, "TFJobSuspended", message);
	decision_note(decision, NOTE_NORMAL, "TFJobSuspended", message);
	decision_forget_delays(decision);
}

static void wait_in_queue(struct decision *decision)
{
	const struct observed_queue *queue = decision->observed->queue;
	const struct condition *before = status_condition(decision->status, CONDITION_QUEUED);

	if (queue->vain) {
		finish_as_lost(decision, "NotStarted", queue->vain);
		return;
	}
	const char *message = arena_format(decision->arena, "waits for %s", queue->awaited);

	if (before && before->is_true && text_equals(before->message, message))
		return;
	decision_set_condition(decision, CONDITION_QUEUED, false, "TFJobQueued", "");
	decision_set_condition(decision, CONDITION_QUEUED, true, "TFJobQueued", message);
	decision_note(decision, NOTE_NORMAL, "TFJobQueued",
		      arena_format(decision->arena, "job '%s' %s%s%s", decision->job->name, message,
				   *queue->details ? ": " : "", queue->details));
}

static void leave_queue(struct decision *decision)
{
	if (status_condition_is_true(decision->status, CONDITION_QUEUED))
		decision_set_condition(decision, CONDITION_QUEUED, false, "TFJobAdmitted",
				       arena_format(decision->arena, "TFJob %s is admitted.",
						    decision->job->name));
}

/* Everything restarts without being charged. Replicas that are still ending are leftovers, so
 * resuming immediately fails nothing. */
static void resume_if_suspended(struct decision *decision)
{
	const char *message;

	if (!status_condition_is_true(decision->status, CONDITION_SUSPENDED))
		return;
	message = arena_format(decision->arena, "TFJob %s is resumed.", decision->job->name);
	decision_set_condition(decision, CONDITION_SUSPENDED, false, "TFJobResumed", message);
	decision_note(decision, NOTE_NORMAL, "TFJobResumed", message);
	decision->status->start_time = decision->now;
	if (!finish_if_too_late(decision))
		decision_begin_all_attempts(decision);
}

/* We stopped the replica (scale-down, a withdrawn stop), and it is wanted again. */
static void want_stopped_again(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];
		enum replica_state state = replica->status->state;

		if (replica->is_wanted && (state == REPLICA_STOPPING || state == REPLICA_STOPPED))
			replica_begin_attempt(replica);
	}
}

/* "Running" means that the role which decides the job's success is running: chief or master, else
 * the workers, else any role. */
static void set_running(struct decision *decision)
{
	const struct job *job = decision->job;
	const struct role *deciding = job_deciding_role(job);

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (!replica->is_wanted || replica->status->state != REPLICA_RUNNING ||
		    (deciding && deciding != replica->role))
			continue;
		decision_set_condition(decision, CONDITION_RUNNING, true, "TFJobRunning",
				       arena_format(decision->arena, "TFJob %s/%s is running.",
						    job->name_space, job->name));
		return;
	}
}

/* A job that may continue. */
static void continue_unfinished_job(struct decision *decision)
{
	leave_queue(decision);
	resume_if_suspended(decision);
	if (status_is_finished(decision->status))
		return;
	bool is_restarted = restart_or_fail(decision);

	if (!is_restarted)
		finish_if_nobody_is_left(decision);
	if (status_is_finished(decision->status) || finish_if_too_late(decision))
		return;
	want_stopped_again(decision);
	resize_if_scaled(decision);
	if (!is_restarted)
		set_running(decision);
}

static void decide_job(struct decision *decision)
{
	const struct job *job = decision->job;
	bool was_suspended = status_condition_is_true(decision->status, CONDITION_SUSPENDED);

	if (status_is_finished(decision->status))
		return;
	set_created(decision);
	if (decision->observed->world) {
		elastic_decide(decision);
		set_running(decision);
		return;
	}
	if (!was_suspended && finish_if_succeeded(decision))
		return;
	if (job->stop_reason)
		finish_if_stopped(decision);
	else if (job->is_suspended)
		suspend(decision);
	else if (decision->observed->queue)
		wait_in_queue(decision);
	else
		continue_unfinished_job(decision);
}

/* A Pod is active while it runs, also between two starts of its container. */
static enum replica_state counted_state(const struct replica *replica, bool has_succeeded)
{
	enum replica_state state = replica->status->state;
	const struct observed_replica *object = replica->object;

	if (!object || !observed_is_live(object) ||
	    !(object->phase == OBSERVED_RUNNING || object->is_object_running))
		return state;
	if (has_succeeded && !observed_was_asked_to_end(object))
		return REPLICA_SUCCEEDED;
	return state == REPLICA_STARTING ? REPLICA_RUNNING : state;
}

/* As TFJob counts: replicas that ran when the job succeeded count as succeeded. */
static void count_roles(struct decision *decision, bool was_finished)
{
	const struct job *job = decision->job;
	struct status *status = decision->status;
	bool has_succeeded = status_condition_is_true(status, CONDITION_SUCCEEDED);

	if (was_finished && has_succeeded)
		return;
	status->n_roles = job->n_roles;
	status->roles = arena_take_array(decision->arena, job->n_roles, sizeof(*status->roles));
	for (size_t i = 0; i < job->n_roles; i++)
		status->roles[i].title = job->roles[i].title;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (!replica->is_wanted)
			continue;
		role_status_add(&status->roles[replica->role - job->roles],
				counted_state(replica, has_succeeded));
	}
	status_drop_idle_roles(status);
}

static bool has_action_or_ending(const struct decision *decision)
{
	if (decision->plan->n_actions)
		return true;
	for (size_t i = 0; i < decision->observed->n_replicas; i++) {
		const struct observed_replica *object = &decision->observed->replicas[i];

		if (observed_is_live(object) && observed_was_asked_to_end(object))
			return true;
	}
	return false;
}

/* Deletes the job itself when its time to live has passed and nothing of it is left to end. */
static void expire(struct decision *decision)
{
	msec expires_at = expiry_of_job(decision->job, decision->status);

	if (!status_is_finished(decision->status))
		return;
	if (decision->now < expires_at)
		plan_wake_at(decision->plan, expires_at);
	decision->plan->is_job_drained = !has_action_or_ending(decision);
	decision->plan->is_job_expired =
		decision->plan->is_job_drained && decision->now >= expires_at;
}

void reconcile_decide(const struct job *job, const struct status *last_status,
		      const struct observed *observed, msec now, struct arena *arena,
		      struct plan *ret_plan)
{
	struct decision decision;

	decision_begin(&decision, job, last_status, observed, now, arena, ret_plan);
	decide_job(&decision);
	failure_revise_consequences(&decision);
	ending_plan(&decision);
	missing_plan(&decision);
	waiting_reasons_find(&decision);
	slow_stops_find(&decision);
	waiting_reasons_report(&decision);
	count_roles(&decision, status_is_finished(last_status));
	expire(&decision);
	ret_plan->is_status_changed = !status_equals(&ret_plan->status, last_status);
}

void reconcile_begin(const struct job *job, msec now, struct arena *arena,
		     struct status *ret_status)
{
	const struct status nothing_yet = {.exit_code = -1};
	const struct observed nobody = {0};
	struct plan plan;
	struct decision decision;

	decision_begin(&decision, job, &nothing_yet, &nobody, now, arena, &plan);
	set_created(&decision);
	count_roles(&decision, false);
	*ret_status = plan.status;
}

void reconcile_resume(const struct job *job, const struct status *last_status, msec now,
		      struct arena *arena, struct status *ret_status)
{
	const struct observed nobody = {0};
	struct plan plan;
	struct decision decision;

	decision_begin(&decision, job, last_status, &nobody, now, arena, &plan);
	struct status *status = decision.status;

	decision_forget_conditions(&decision);
	decision_set_condition(&decision, CONDITION_RESTARTING, true, "TFJobResumed",
			       arena_format(arena, "TFJob %s is resumed.", job->name));
	decision_forget_delays(&decision);
	decision_begin_all_attempts(&decision);
	for (size_t i = 0; i < decision.n_replicas; i++)
		decision.replicas[i].status->restarts = 0;
	status->start_time = status->completion_time = MSEC_UNSET;
	status->restarts = 0;
	status->failure = NULL;
	status->exit_code = -1;
	count_roles(&decision, false);
	*ret_status = plan.status;
}

void reconcile_lost(const struct job *job, const struct status *last_status, const char *reason,
		    const char *why, msec now, struct arena *arena, struct plan *ret_plan)
{
	const struct observed nobody = {0};
	struct decision decision;

	decision_begin(&decision, job, last_status, &nobody, now, arena, ret_plan);
	/* Running replicas did not fail by themselves: they ended with their supervisor or after
	 * it. Waiting replicas no longer wait. */
	for (size_t i = 0; i < decision.n_replicas; i++)
		if (decision.replicas[i].is_disrupted ||
		    decision.replicas[i].status->state == REPLICA_PENDING)
			decision.replicas[i].status->state = REPLICA_STOPPED;
	if (!status_is_finished(last_status))
		finish_as_lost(&decision, reason, why);
	count_roles(&decision, status_is_finished(last_status));
	ret_plan->is_status_changed = !status_equals(&ret_plan->status, last_status);
}
