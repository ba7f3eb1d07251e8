/* The GPUs of one job on this machine: the GPUs assigned to each replica, as the store records
 * them. Used by the local back end alone. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/gpu_assignment.h"
#include "spec/gpus.h"
#include "store/store.h"

struct local_gpus {
	const struct gpus *gpus; /* borrowed; none: nothing is assigned */
	struct claims *claims; /* borrowed */
	struct arena *arena; /* of the assignment; NULL: nothing was assigned */
	struct gpu_assignment deal;
	bool has_told_shortage;
};

/* Makes sure that the replica has its GPUs. Claims them for all replicas of the job that have none,
 * all or nothing; a replica keeps its GPUs, over restarts too. A job that restarts as a whole in
 * another size (job_resizes_whole) is assigned again, so that each replica gets an equal share.
 * Messages are added to `told`. ERR_LIMIT: other jobs hold too many; an elastic job sees all of
 * them then, without a claim, and a message says who holds them. */
int local_gpus_assign(struct local_gpus *gpus, const struct job *job, const char *role, int index,
		      struct text *told, struct err *err) MUST_USE;
/* Releases the replica's GPUs in the store. */
int local_gpus_release(struct local_gpus *gpus, const char *uid, const char *role, int index,
		       struct err *err) MUST_USE;
void local_gpus_done(struct local_gpus *gpus);

/* CUDA_VISIBLE_DEVICES of the replica; NULL if nothing is assigned to it, or all that we see
 * ourselves: the variable then stays as it is, because some libraries of PyTorch read numbers from
 * it, and torchrun does not set it. Lives in the arena. */
const char *local_gpus_visible(const struct local_gpus *gpus, const struct job *job,
			       const char *role, int index, struct arena *arena);
/* The names for messages: "0,1", "none"; NULL if nothing is assigned to it. Caller frees. */
char *local_gpus_names(const struct local_gpus *gpus, const char *role, int index) MUST_USE;
