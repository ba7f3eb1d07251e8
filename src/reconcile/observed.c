/* Words for the observed phases, and two questions common to all decisions. */
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
