#include "engine/job_view_pods.h"

#include "base/text.h"

static enum replica_state state_of(const struct observed_replica *seen)
{
	bool was_asked = observed_was_asked_to_end(seen);

	switch (seen->phase) {
	case OBSERVED_STARTING:
		return was_asked ? REPLICA_STOPPING : REPLICA_STARTING;
	case OBSERVED_RUNNING:
		return was_asked ? REPLICA_STOPPING : REPLICA_RUNNING;
	case OBSERVED_SUCCEEDED:
		return was_asked ? REPLICA_STOPPED : REPLICA_SUCCEEDED;
	case OBSERVED_FAILED:
	case OBSERVED_PHASE_COUNT:
		break;
	}
	return was_asked ? REPLICA_STOPPED : REPLICA_FAILED;
}

static bool has_ended(const struct replica_status *replica)
{
	return replica->state == REPLICA_SUCCEEDED || replica->state == REPLICA_FAILED ||
	       replica->state == REPLICA_STOPPED;
}

static void lay_over(const struct job_pod *pod, struct replica_status *replica)
{
	const struct observed_replica *seen = &pod->seen;

	replica->pod = pod->name;
	replica->node = seen->node;
	replica->ip = pod->ip;
	if (seen->reason) {
		replica->reason = seen->reason;
		replica->message = seen->message;
	}
	if (has_ended(replica))
		return; /* what was made of it is known already */
	replica->state = state_of(seen);
	replica->exit_code = seen->exit_code;
	replica->signal = seen->signal;
	replica->start_time = seen->started_at;
	replica->end_time = seen->ended_at;
}

void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status)
{
	size_t count = (size_t) job_replica_count(job), n = 0;
	struct replica_status *replicas = arena_take_array(arena, count, sizeof(*replicas));

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			replicas[n++] = (struct replica_status){
				.role = job->roles[i].name,
				.index = index,
				.restart_at = MSEC_UNSET,
				.exit_code = -1,
				.start_time = MSEC_UNSET,
				.end_time = MSEC_UNSET,
			};
	status->replicas = replicas;
	status->n_replicas = n;
}

void job_view_pod_lay_over(const struct job_pod *pod, struct status *status)
{
	const struct observed_replica *seen = &pod->seen;

	for (size_t i = 0; i < status->n_replicas; i++) {
		struct replica_status *replica = &status->replicas[i];

		if (replica->index == seen->index && replica->attempt == seen->attempt &&
		    text_equals(replica->role, seen->role))
			lay_over(pod, replica);
	}
}
