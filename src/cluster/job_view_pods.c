#include "cluster/job_view_pods.h"

#include "reconcile/status_seen.h"

void job_view_add_replicas(const struct job *job, struct arena *arena, struct status *status)
{
	size_t count = (size_t) job_replica_count(job), n = 0;
	struct replica_status *replicas = arena_take_array(arena, count, sizeof(*replicas));

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			replicas[n++] = (struct replica_status){
				.role = job->roles[i].name,
				.index = index,
				.exit_code = -1,
			};
	status->replicas = replicas;
	status->n_replicas = n;
}

void job_view_pod_lay_over(const struct job_pod *pod, struct replica_status *replica)
{
	const struct observed_replica *seen = &pod->seen;

	if (replica->attempt != seen->attempt)
		return;
	replica->pod = pod->name;
	replica->node = seen->node;
	replica->ip = pod->ip;
	replica_see(replica, seen);
}
