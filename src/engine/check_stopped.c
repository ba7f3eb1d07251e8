#include "engine/check_stopped.h"

#include "io/process.h"

void check_each_stopped(const struct status *status, check_stopped_fn tell, void *data)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];

		if (replica->state != REPLICA_RUNNING || replica->pid <= 0)
			continue;
		char *name CLEANUP(mem_free_text) =
			mem_format("%s-%d", replica->role, replica->index);

		tell(name, process_is_stopped((pid_t) replica->pid), data);
	}
}
