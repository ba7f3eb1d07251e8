/* The stacks of replicas that are asked to end, kept before the signal is sent. Used by the local
 * back end alone. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "io/loop.h"
#include "jobs/stacks_asker.h"
#include "local/replicas.h"

#include <stdbool.h>
#include <stddef.h>

struct local_stacks {
	struct loop *loop;
	struct local_replicas *replicas; /* all of the back end */
	char *hook; /* for PYTHONPATH; NULL: processes cannot be asked */
	/* Set by the caller. */
	char *job_folder; /* taken over */
	const char *uid; /* of the job */
	void (*on_kept)(void *data); /* local_stacks_summarize has something new to say */
	void *data;

	bool is_due; /* some are to be asked, in the next turn of the loop */
	struct stacks_asker *asker; /* NULL: nobody is being asked */
	struct stacks answers; /* so far */
	struct arena *arena; /* of these; NULL: nobody was asked yet */
};

/* Puts the hook into the state folder; NULL: there is to be none. */
void local_stacks_init(struct local_stacks *stacks, struct local_replicas *replicas,
		       const char *state_folder, struct loop *loop);
void local_stacks_done(struct local_stacks *stacks);

/* There are replicas whose signal is held back (local_replica_stop): they are asked soon, all at
 * once, and get it when they have answered. */
void local_stacks_ask(struct local_stacks *stacks);

/* Where those were that were asked so far, as struct backend_functions says. */
int local_stacks_summarize(const struct local_stacks *stacks, struct arena *arena,
			   const char ***ret_lines, size_t *ret_count, struct err *err) MUST_USE;
