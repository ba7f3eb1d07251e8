#include "reconcile/plan.h"

const char *const action_type_words[ACTION_TYPE_COUNT] = {
	[ACTION_PUBLISH] = "publish", [ACTION_START] = "start",   [ACTION_STOP] = "stop",
	[ACTION_KILL] = "kill",       [ACTION_REMOVE] = "remove", [ACTION_UNPUBLISH] = "unpublish",
};

void plan_add_action(struct plan *plan, struct arena *arena, const struct action *action)
{
	plan->actions = arena_grow(arena, plan->actions, plan->n_actions, sizeof(*plan->actions));
	plan->actions[plan->n_actions++] = *action;
}

void plan_add_note(struct plan *plan, struct arena *arena, enum note_level level,
		   const char *reason, const char *sentence)
{
	plan->notes = arena_grow(arena, plan->notes, plan->n_notes, sizeof(*plan->notes));
	plan->notes[plan->n_notes++] =
		(struct note){.level = level, .reason = reason, .sentence = sentence};
}

void plan_wake_at(struct plan *plan, msec at)
{
	plan->wake_at = msec_min(plan->wake_at, at);
}

const char *const observed_phase_words[OBSERVED_PHASE_COUNT] = {
	[OBSERVED_STARTING] = "Starting",
	[OBSERVED_RUNNING] = "Running",
	[OBSERVED_SUCCEEDED] = "Succeeded",
	[OBSERVED_FAILED] = "Failed",
};

bool observed_is_live(const struct observed_replica *replica)
{
	return replica->phase == OBSERVED_STARTING || replica->phase == OBSERVED_RUNNING;
}

bool observed_was_asked_to_end(const struct observed_replica *replica)
{
	return replica->stop_asked_at != MSEC_UNSET || replica->is_killed;
}

enum replica_state observed_state(const struct observed_replica *replica)
{
	static const enum replica_state states[OBSERVED_PHASE_COUNT] = {
		[OBSERVED_STARTING] = REPLICA_STARTING,
		[OBSERVED_RUNNING] = REPLICA_RUNNING,
		[OBSERVED_SUCCEEDED] = REPLICA_SUCCEEDED,
		[OBSERVED_FAILED] = REPLICA_FAILED,
	};

	if (!observed_was_asked_to_end(replica))
		return states[replica->phase];
	return observed_is_live(replica) ? REPLICA_STOPPING : REPLICA_STOPPED;
}

void startup_add(struct startup *startup, const struct observed_replica *replica, int change)
{
	bool never_began = replica->phase == OBSERVED_FAILED && replica->started_at == MSEC_UNSET;
	bool has_started = replica->phase != OBSERVED_STARTING && !never_began;

	startup->n_pods += change;
	startup->n_scheduled += has_started || replica->stage >= OBSERVED_SCHEDULED ? change : 0;
	startup->n_set_up += has_started || replica->stage >= OBSERVED_SET_UP ? change : 0;
	startup->n_running += has_started ? change : 0;
}

void startup_describe(const struct startup *startup, struct text *text)
{
	text_addf(text, "%d %s: %d scheduled, %d set up, %d running", startup->n_pods,
		  startup->n_pods == 1 ? "Pod" : "Pods", startup->n_scheduled, startup->n_set_up,
		  startup->n_running);
}

bool startup_is_over(const struct startup *startup, int n_replicas)
{
	return startup->n_running >= n_replicas;
}
