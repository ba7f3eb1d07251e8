#include "engine/job_view_pods.h"

#include "base/text.h"
#include "core/status_seen.h"

static void lay_over(const struct job_pod *pod, struct replica_status *replica)
{
	const struct observed_replica *seen = &pod->seen;

	replica->pod = pod->name;
	replica->node = seen->node;
	replica->ip = pod->ip;
	replica_see(replica, seen);
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
