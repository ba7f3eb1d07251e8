#include "core/progress.h"

#include "core/obstacle.h"

#include <string.h>

/* How many replicas are in which state, and the first one that is waited for. */
struct counts {
	size_t n_running;
	size_t n_stopping;
	size_t n_stopped; /* of a job that goes on: those that it was scaled down by */
	size_t n_awaited;
	const struct replica_status *awaited;
	msec next_start; /* MSEC_NEVER: nobody waits for a delay to pass */
};

static struct counts count_states(const struct status *status, msec now)
{
	struct counts counts = {.next_start = MSEC_NEVER};

	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		switch (replica->state) {
		case REPLICA_PENDING:
		case REPLICA_STARTING:
			if (counts.n_awaited++ == 0)
				counts.awaited = replica;
			if (replica->restart_at != MSEC_UNSET && replica->restart_at > now)
				counts.next_start =
					msec_min(counts.next_start, replica->restart_at);
			break;
		case REPLICA_RUNNING:
			counts.n_running++;
			break;
		case REPLICA_STOPPING:
			counts.n_stopping++;
			break;
		case REPLICA_STOPPED:
			counts.n_stopped++;
			break;
		case REPLICA_SUCCEEDED:
		case REPLICA_FAILED:
		case REPLICA_STATE_COUNT:
			break;
		}
	}
	return counts;
}

static void describe_waiting(const struct status *status, const struct counts *counts,
			     struct text *text)
{
	text_addf(text, "%zu of %zu running, waiting for %s-%d", counts->n_running,
		  status->n_replicas - counts->n_stopped, counts->awaited->role,
		  counts->awaited->index);
	if (counts->n_awaited > 1)
		text_addf(text, " and %zu more", counts->n_awaited - 1);
}

static void describe_awaited(const struct status *status, const struct startup *startup,
			     const struct counts *counts, msec now, struct text *text)
{
	if (startup)
		startup_describe(startup, text);
	else
		describe_waiting(status, counts, text);
	obstacle_add_first(status, "; ", text);
	if (counts->next_start != MSEC_NEVER) {
		text_add(text, ", next start in ");
		text_add_duration(text, counts->next_start - now);
	}
}

void progress_describe(const struct status *status, const struct startup *startup, msec now,
		       struct text *text)
{
	struct counts counts = count_states(status, now);

	if (status_is_finished(status) && counts.n_stopping == 0)
		return;
	if (counts.n_stopping > 0)
		text_addf(text, "%zu of %zu stopping", counts.n_stopping, status->n_replicas);
	else if (status_condition_is_true(status, CONDITION_SUSPENDED))
		text_add(text, "suspended");
	else if (counts.awaited)
		describe_awaited(status, startup, &counts, now, text);
}
