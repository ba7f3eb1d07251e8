/* Requests the stacks of the Python processes of a job's replicas: of all replicas at the same
 * time, of the processes of one replica one after the other. Each answer is in the replica's file
 * (jobs/processes.h). */
#pragma once

#include "base/mem.h"
#include "io/loop.h"
#include "status/stacks.h"

#include <sys/types.h>

struct stacks_replica {
	const char *role;
	int index, attempt;
	pid_t pid; /* of its first process; others are found by their marks */
};

struct stacks_asker_settings {
	struct loop *loop; /* run by the caller */
	const char *job_folder;
	const char *uid; /* of the job */
	/* Every process has answered, or will not: each has a second at most. Called once, from the
	 * loop; may free the asker. */
	void (*on_done)(void *data);
	void *data;
};

struct stacks_asker;

/* Starts the requests; copies its arguments. After on_done, stacks_asker_read gives the answers. */
struct stacks_asker *stacks_asker_new(const struct stacks_asker_settings *settings,
				      const struct stacks_replica *replicas,
				      size_t n_replicas) MUST_USE;
/* Adds the answers, which live in the arena. An answer is missing if another client has requested
 * stacks meanwhile and overwritten the file. */
void stacks_asker_read(const struct stacks_asker *asker, struct arena *arena,
		       struct stacks *stacks);
/* Stops waiting; NULL is fine. */
void stacks_asker_free(struct stacks_asker *asker);
