#include "reconcile/observed.h"

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
