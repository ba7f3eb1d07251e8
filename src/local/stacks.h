/* Keeps the stacks of replicas that are asked to exit, before the signal is sent. Used by the local
 * back end alone. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "io/loop.h"
#include "jobs/stacks_asker.h"
#include "local/replica.h"

#include <stdbool.h>
#include <stddef.h>

struct local_stacks {
	struct loop *loop;
	struct local_replicas *replicas; /* all of the back end */
	char *hook; /* for PYTHONPATH; NULL: processes cannot write stacks */
	/* Set by the caller. */
	char *job_folder; /* taken over */
	const char *uid; /* of the job */
	void (*on_kept)(void *data); /* local_stacks_summarize has a new result */
	void *data;

	bool is_due; /* some requests are due, in the next iteration of the loop */
	struct stacks_asker *asker; /* NULL: no request is in progress */
	struct stacks answers; /* so far */
	struct arena *arena; /* of these; NULL: nothing was requested yet */
};

/* Installs the hook in the state directory; NULL: no hook. */
void local_stacks_init(struct local_stacks *stacks, struct local_replicas *replicas,
		       const char *state_folder, struct loop *loop);
void local_stacks_done(struct local_stacks *stacks);

/* There are replicas whose signal is held back (local_replica_stop): their stacks are requested
 * soon, all at the same time, and the signal is sent when they have answered. */
void local_stacks_ask(struct local_stacks *stacks);

/* The stacks so far, as last_stacks of struct backend_functions. */
int local_stacks_summarize(const struct local_stacks *stacks, struct arena *arena,
			   const char ***ret_lines, size_t *ret_count, struct err *err) MUST_USE;
