/* What a job of this machine waits for before it starts: the end of other jobs, then its GPUs.
 *
 * No process manages the queue. It is in the store (store/store.h), each job in it has its
 * supervisor, and that looks whenever a supervisor that it waits for has exited, or wakes it. */
#pragma once

#include "io/loop.h"
#include "jobs/backend.h"
#include "local/machine_gpus.h"

/* A job may pass one that waits for more GPUs, so often; then GPUs that become free are kept for
 * that one. So none starves. */
#define QUEUE_PASSES 10

/* Whether the GPUs of the waiter with this uid are free, and not for a waiter before it: each of
 * those that has enough gets the lowest ones. `free` is the set of free numbers. *ret_ahead, with
 * an element for each waiter, says which of those before it get or keep some. */
bool queue_admits(const struct claim_queue *queue, const char *uid, uint64_t free, bool *ret_ahead);

/* Zero it to begin, except for the first members, which are borrowed. */
struct local_queue {
	struct loop *loop;
	struct store *store; /* of all jobs; NULL: nothing is waited for */
	const struct gpus *gpus;
	backend_news_fn on_news; /* look again */
	void *data;

	bool is_admitted;
	struct awaited_job *awaited; /* NULL: not read yet */
	size_t n_awaited;
	struct queue_watch *watches; /* of supervisors that have to exit first */
	size_t n_watches, watch_capacity;
	struct loop_watch *timer; /* for a supervisor that cannot be watched */
	struct text text, details;
	struct observed_queue observed;
};

/* NULL: the job may start, and has its GPUs (`told` as in local_gpus_assign), or need not start. */
const struct observed_queue *local_queue_look(struct local_queue *queue, const struct job *job,
					      struct local_gpus *gpus, struct text *told);
void local_queue_done(struct local_queue *queue);

/* GPUs have become free: every job of the queue looks. */
void local_queue_wake(struct store *store, const char *state_folder);
