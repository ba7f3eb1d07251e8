#include "reconcile/decision.h"

#include <assert.h>

/* Whether a recorded replica has a place in its role; a status of a user may exceed the limit. */
static bool has_place(const struct role *role, const struct replica_status *remembered)
{
	return role && text_equals(role->name, remembered->role) && remembered->index >= 0 &&
	       remembered->index < LIMIT_REPLICAS;
}

/* Number of replicas of a role: those wanted, and those recorded before a scale-down. */
static int count_of_role(const struct role *role, const struct status *last)
{
	int count = role->replicas;

	for (size_t i = 0; i < last->n_replicas; i++)
		if (last->replicas[i].index >= count && has_place(role, &last->replicas[i]))
			count = last->replicas[i].index + 1;
	return count;
}

static size_t count_of_removed_roles(const struct job *job, const struct status *last)
{
	size_t count = 0;

	for (size_t i = 0; i < last->n_replicas; i++)
		count += !has_place(job_role(job, last->replicas[i].role), &last->replicas[i]);
	return count;
}

static struct replica *add_replica(struct decision *decision, const struct role *role,
				   const struct replica_status *status)
{
	assert(decision->replicas); /* set up, with room for all */
	struct replica *replica = &decision->replicas[decision->n_replicas];

	replica->role = role;
	replica->status = &decision->status->replicas[decision->n_replicas++];
	*replica->status = *status;
	replica->is_wanted = role && status->index < role->replicas;
	return replica;
}

/* Recorded replicas replace the empty entries; replicas without a place come last. */
static void add_remembered(struct decision *decision, const struct status *last)
{
	for (size_t i = 0; i < last->n_replicas; i++) {
		const struct replica_status *remembered = &last->replicas[i];
		struct replica *replica =
			decision_find(decision, remembered->role, remembered->index);

		if (replica)
			*replica->status = *remembered;
		else
			replica = add_replica(decision, NULL, remembered);
		replica->is_remembered = true;
	}
}

static void lay_out(struct decision *decision, const struct status *last)
{
	const struct job *job = decision->job;
	size_t count = count_of_removed_roles(job, last);
	int *counts = arena_take_array(decision->arena, job->n_roles, sizeof(*counts));

	for (size_t i = 0; i < job->n_roles; i++) {
		counts[i] = count_of_role(&job->roles[i], last);
		count += (size_t) counts[i];
	}
	decision->first_of_role =
		arena_take_array(decision->arena, job->n_roles + 1, sizeof(size_t));
	decision->replicas = arena_take_array(decision->arena, count, sizeof(*decision->replicas));
	decision->status->replicas =
		arena_take_array(decision->arena, count, sizeof(*decision->status->replicas));
	for (size_t i = 0; i < job->n_roles; i++) {
		for (int index = 0; index < counts[i]; index++)
			add_replica(decision, &job->roles[i],
				    &(struct replica_status){.role = job->roles[i].name,
							     .index = index,
							     .exit_code = -1});
		decision->first_of_role[i + 1] = decision->n_replicas;
	}
	add_remembered(decision, last);
	decision->status->n_replicas = decision->n_replicas;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];

		replica->last_state = replica->status->state;
		replica->last_reason = replica->status->reason;
	}
}

/* If no replicas are recorded, because another operator wrote the status, the existing objects
 * define the attempt. No replica restarts for that reason. */
static void adopt_observed_attempts(struct decision *decision)
{
	const struct observed *observed = decision->observed;

	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *object = &observed->replicas[i];
		struct replica *replica = decision_find(decision, object->role, object->index);

		if (replica && object->attempt > replica->status->attempt)
			replica->status->attempt = object->attempt;
	}
}

static void attach_objects(struct decision *decision)
{
	const struct observed *observed = decision->observed;

	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *object = &observed->replicas[i];
		struct replica *replica = decision_find(decision, object->role, object->index);

		if (!replica)
			continue;
		if (object->attempt == replica->status->attempt) {
			replica->object = object;
		} else {
			replica->n_older++;
			replica->is_older_live |= observed_is_live(object);
		}
	}
}

static void attach_addresses(struct decision *decision)
{
	const struct observed *observed = decision->observed;

	for (size_t i = 0; i < observed->n_addresses; i++) {
		const struct observed_address *address = &observed->addresses[i];
		struct replica *replica = decision_find(decision, address->role, address->index);

		if (!replica)
			continue;
		replica->address = address->address;
		replica->status->address = address->address;
	}
}

/* Whether another client requested its end: muster writes Stopping before it sends a stop. */
static bool is_end_foreign(const struct decision *decision, const struct replica *replica)
{
	return replica->is_wanted && !decision_is_at_rest(decision) &&
	       replica->last_state != REPLICA_STOPPING && replica->last_state != REPLICA_STOPPED;
}

/* The state Starting is written when the start is requested, which may never have happened. A
 * replica that restarts alone is then started in the same attempt; this is no restart. */
static bool may_never_have_been(const struct decision *decision, const struct replica *replica)
{
	return decision->observed->traits.repeats_attempts &&
	       decision->observed->is_first_observation && replica->is_wanted &&
	       !decision_is_at_rest(decision) && replica->last_state != REPLICA_STOPPING &&
	       !job_restarts_whole(decision->job, replica->role);
}

/* The state of a replica without an object. A replica that waits for its start has none yet. */
static enum replica_state state_without_object(const struct decision *decision,
					       struct replica *replica)
{
	enum replica_state last = replica->last_state;

	if (last == REPLICA_PENDING || replica_state_is_end(last))
		return last;
	if (may_never_have_been(decision, replica))
		return REPLICA_PENDING;
	replica->is_disrupted = is_end_foreign(decision, replica);
	return replica->is_disrupted ? REPLICA_FAILED : REPLICA_STOPPED;
}

static enum replica_state state_of_object(const struct decision *decision, struct replica *replica)
{
	const struct observed_replica *object = replica->object;
	enum replica_state last = replica->last_state;

	/* It was deleted by another client, or has ended: that was already handled. */
	if (observed_is_live(object) ? last == REPLICA_FAILED : replica_state_is_end(last))
		return last;
	replica->is_disrupted =
		observed_was_asked_to_end(object) && is_end_foreign(decision, replica);
	return replica->is_disrupted ? REPLICA_FAILED : observed_state(object);
}

static void update_replica_state(const struct decision *decision, struct replica *replica)
{
	struct replica_status *status = replica->status;
	const struct observed_replica *object = replica->object;

	if (!object) {
		status->state = state_without_object(decision, replica);
		if (!replica_state_is_end(replica->last_state) &&
		    replica_state_is_end(status->state)) {
			status->pid = 0;
			status->end_time = decision->now;
		}
		return;
	}
	status->state = state_of_object(decision, replica);
	status->pid = observed_is_live(object) ? object->pid : 0;
	status->exit_code = object->exit_code;
	status->signal = object->signal;
	status->reason = object->reason;
	status->message = object->message;
	status->is_reason_from_elsewhere = object->is_reason_from_elsewhere;
	status->start_time = object->started_at;
	status->end_time = object->ended_at;
	status->log = object->log;
	status->gpus = object->gpus;
}

static void copy_conditions(struct decision *decision, const struct status *last)
{
	struct status *status = decision->status;

	status->conditions = arena_take_array(decision->arena, last->n_conditions + CONDITION_COUNT,
					      sizeof(*status->conditions));
	if (last->n_conditions)
		memcpy(status->conditions, last->conditions,
		       last->n_conditions * sizeof(*status->conditions));
}

void decision_begin(struct decision *decision, const struct job *job,
		    const struct status *last_status, const struct observed *observed, msec now,
		    struct arena *arena, struct plan *plan)
{
	*plan = (struct plan){.status = *last_status, .wake_at = MSEC_NEVER};
	*decision = (struct decision){
		.job = job,
		.observed = observed,
		.now = now,
		.arena = arena,
		.plan = plan,
		.status = &plan->status,
	};
	copy_conditions(decision, last_status);
	lay_out(decision, last_status);
	if (last_status->n_replicas == 0)
		adopt_observed_attempts(decision);
	attach_objects(decision);
	attach_addresses(decision);
	for (size_t i = 0; i < decision->n_replicas; i++)
		update_replica_state(decision, &decision->replicas[i]);
}

static struct replica *find_of_removed_role(const struct decision *decision, const char *role,
					    int index)
{
	for (size_t i = decision->first_of_role[decision->job->n_roles]; i < decision->n_replicas;
	     i++) {
		struct replica *replica = &decision->replicas[i];

		if (replica->status->index == index && text_equals(replica->status->role, role))
			return replica;
	}
	return NULL;
}

struct replica *decision_find(const struct decision *decision, const char *role, int index)
{
	const struct role *known = job_role(decision->job, role);

	if (!known)
		return find_of_removed_role(decision, role, index);
	size_t nth = (size_t) (known - decision->job->roles);
	size_t first = decision->first_of_role[nth];
	size_t count = decision->first_of_role[nth + 1] - first;

	return index >= 0 && (size_t) index < count ? &decision->replicas[first + (size_t) index]
						    : NULL;
}

bool decision_is_at_rest(const struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;

	return status_is_finished(decision->status) || decision->job->stop_reason ||
	       decision->job->is_suspended || decision->observed->queue ||
	       (world && !world->generation);
}

bool replica_is_live(const struct replica *replica)
{
	return replica->object && observed_is_live(replica->object);
}

void replica_begin_attempt_number(struct replica *replica, int attempt)
{
	struct replica_status *status = replica->status;

	if (replica->object) {
		replica->n_older++;
		replica->is_older_live |= observed_is_live(replica->object);
		replica->object = NULL;
	}
	*status = (struct replica_status){
		.role = status->role,
		.index = status->index,
		.attempt = attempt,
		.restarts = status->restarts,
		.state = REPLICA_PENDING,
		.address = status->address,
		.exit_code = -1,
	};
}

void replica_begin_attempt(struct replica *replica)
{
	replica_begin_attempt_number(replica, replica->status->attempt + 1);
}

void decision_begin_all_attempts(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++)
		if (decision->replicas[i].is_wanted &&
		    decision->replicas[i].status->state != REPLICA_PENDING)
			replica_begin_attempt(&decision->replicas[i]);
}

void decision_forget_delays(struct decision *decision)
{
	decision->status->recent_restarts = 0;
	for (size_t i = 0; i < decision->n_replicas; i++) {
		decision->replicas[i].status->recent_restarts = 0;
		decision->replicas[i].status->restart_at = MSEC_UNSET;
	}
}

static void remove_condition(struct status *status, enum condition_type type)
{
	size_t kept = 0;

	for (size_t i = 0; i < status->n_conditions; i++)
		if (status->conditions[i].type != type)
			status->conditions[kept++] = status->conditions[i];
	status->n_conditions = kept;
}

void decision_forget_conditions(struct decision *decision)
{
	for (int type = 0; type < CONDITION_COUNT; type++)
		if (type != CONDITION_CREATED)
			remove_condition(decision->status, (enum condition_type) type);
}

static void clear_running_condition(struct status *status, msec now)
{
	for (size_t i = 0; i < status->n_conditions; i++) {
		struct condition *condition = &status->conditions[i];

		if (condition->type != CONDITION_RUNNING || !condition->is_true)
			continue;
		condition->is_true = false;
		condition->last_update = now;
		condition->last_transition = now;
	}
}

static void make_room_for(struct status *status, enum condition_type type, bool is_true, msec now)
{
	remove_condition(status, type);
	if (!is_true)
		return;
	if (type == CONDITION_RUNNING)
		remove_condition(status, CONDITION_RESTARTING);
	else if (type == CONDITION_RESTARTING)
		remove_condition(status, CONDITION_RUNNING);
	else if (type == CONDITION_SUCCEEDED || type == CONDITION_FAILED)
		clear_running_condition(status, now);
}

void decision_set_condition(struct decision *decision, enum condition_type type, bool is_true,
			    const char *reason, const char *message)
{
	struct status *status = decision->status;
	const struct condition *old = status_condition(status, type);

	if (status_is_finished(status))
		return;
	if (old && old->is_true == is_true && text_equals(old->reason, reason))
		return;

	msec transition = old && old->is_true == is_true ? old->last_transition : decision->now;

	make_room_for(status, type, is_true, decision->now);
	status->conditions[status->n_conditions++] = (struct condition){
		.type = type,
		.is_true = is_true,
		.reason = reason,
		.message = message,
		.last_update = decision->now,
		.last_transition = transition,
	};
}

void decision_act(struct decision *decision, enum action_type type, const char *role, int index,
		  int attempt, msec grace)
{
	bool is_signal = type == ACTION_STOP && decision->observed->traits.sends_signals;

	plan_add_action(decision->plan, decision->arena,
			&(struct action){
				.type = type,
				.role = role,
				.index = index,
				.attempt = attempt,
				.grace = grace,
				.signal = is_signal ? stop_signal_of(decision->job) : 0,
			});
}

void decision_note(struct decision *decision, enum note_level level, const char *reason,
		   const char *sentence)
{
	plan_add_note(decision->plan, decision->arena, level, reason, sentence);
}
