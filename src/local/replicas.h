/* All attempts of a job's replicas that this machine knows, from their start until they are
 * removed. */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "local/replica.h"
#include "reconcile/observed.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct local_replicas {
	struct local_replica **list;
	size_t count;
	size_t capacity;
	bool is_unclear; /* set by the last look at our children */
	int64_t oom_kills; /* of those that the kernel did, how many are accounted for */
};

void local_replicas_init(struct local_replicas *replicas);
void local_replicas_done(struct local_replicas *replicas);
void local_replicas_add(struct local_replicas *replicas, struct local_replica *take_replica);
/* Forgets one that has ended; one that has not stays. */
void local_replicas_remove(struct local_replicas *replicas, const struct local_replica *replica);

/* NULL when there is none. */
struct local_replica *local_replicas_find(const struct local_replicas *replicas, const char *role,
					  int index, int attempt);
/* The one whose process this is, as long as it runs; NULL when it is nobody's. */
struct local_replica *local_replicas_find_process(const struct local_replicas *replicas, pid_t pid);

/* A child has ended, `data` are all replicas: its replica leaves, if it is of one. */
void local_replicas_handle_exit(const struct child_exit *child_exit, void *data);

/* When the next stop becomes a kill; MSEC_NEVER when none does. */
msec local_replicas_next_kill(const struct local_replicas *replicas);
void local_replicas_kill_overdue(struct local_replicas *replicas, msec now);
void local_replicas_kill_all(struct local_replicas *replicas, msec now);

/* What a look at those whose process has left found. */
enum local_look {
	LOCAL_LOOK_NOBODY, /* there are none */
	LOCAL_LOOK_DONE, /* some ended; of others something still dies, and we shall be told */
	LOCAL_LOOK_UNCLEAR, /* a process cannot be assigned at this moment: look again soon */
};

/* Ends the attempts whose process has left and of which nothing else lives. What still lives of
 * them is killed; call this again when a child has ended. `has_children`: this process has children
 * left, whosoever. */
enum local_look local_replicas_end_left(struct local_replicas *replicas,
					bool has_children) MUST_USE;

void local_replicas_move_times(struct local_replicas *replicas, msec step);
void local_replicas_observe(const struct local_replicas *replicas, struct arena *arena,
			    struct observed *observed);
