/* All known attempts of a job's replicas on this machine, from their start until they are
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
	bool is_unclear; /* set by the last check of our children */
	int64_t oom_kills; /* how many OOM kills of the kernel's count are already attributed */
};

void local_replicas_init(struct local_replicas *replicas);
void local_replicas_done(struct local_replicas *replicas);
void local_replicas_add(struct local_replicas *replicas, struct local_replica *take_replica);
/* Removes an attempt that has exited; others stay. */
void local_replicas_remove(struct local_replicas *replicas, const struct local_replica *replica);

/* NULL when there is none. */
struct local_replica *local_replicas_find(const struct local_replicas *replicas, const char *role,
					  int index, int attempt);
/* The running attempt with this process; NULL if it belongs to none. */
struct local_replica *local_replicas_find_process(const struct local_replicas *replicas, pid_t pid);

/* A child has exited, `data` are all replicas: its replica, if any, leaves. */
void local_replicas_handle_exit(const struct child_exit *child_exit, void *data);

/* When the next grace period ends; MSEC_NEVER when none does. */
msec local_replicas_next_kill(const struct local_replicas *replicas);
void local_replicas_kill_overdue(struct local_replicas *replicas, msec now);
void local_replicas_kill_all(struct local_replicas *replicas, msec now);

/* The result of checking attempts whose process has exited. */
enum local_check {
	LOCAL_CHECK_NONE, /* there are none */
	LOCAL_CHECK_DONE, /* some ended; of others a process is still dying, and its exit will be
			    reported */
	LOCAL_CHECK_UNCLEAR, /* a process cannot be assigned at this moment: check again soon */
};

/* Ends the attempts whose process has exited and that have no other living process. Living ones are
 * killed; call this again when a child has exited. `has_children`: this process has any children
 * left. */
enum local_check local_replicas_end_left(struct local_replicas *replicas,
					 bool has_children) MUST_USE;

void local_replicas_move_times(struct local_replicas *replicas, msec step);
void local_replicas_observe(const struct local_replicas *replicas, struct arena *arena,
			    struct observed *observed);
