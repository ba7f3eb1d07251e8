/* The GPUs of one job on this machine: what each replica was dealt, as the store remembers it.
 * Used by the local back end alone. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/gpu_assignment.h"
#include "spec/gpus.h"
#include "store/claims.h"

struct local_gpus {
	const struct gpus *gpus; /* borrowed; none: nothing is dealt */
	struct claims *claims; /* borrowed */
	struct arena *arena; /* of the deal; NULL: nothing was dealt */
	struct gpu_assignment deal;
};

/* Sees to it that the replica has a hand. Claims for all replicas of the job that have none, all or
 * nothing; what a replica has it keeps, over restarts too. A job that starts again as a whole in
 * another size (job_resizes_whole) is dealt to anew, so that each gets an equal part. What there is
 * to say is added to `told`. ERR_LIMIT: others hold too many. */
int local_gpus_assign(struct local_gpus *gpus, const struct job *job, const char *role, int index,
		      struct text *told, struct err *err) MUST_USE;
/* Takes the replica's back, and gives them back to the store. */
int local_gpus_release(struct local_gpus *gpus, const char *uid, const char *role, int index,
		       struct err *err) MUST_USE;
void local_gpus_done(struct local_gpus *gpus);

/* CUDA_VISIBLE_DEVICES of the replica; NULL where nothing is dealt to it. Lives in the arena. */
const char *local_gpus_visible(const struct local_gpus *gpus, const char *role, int index,
			       struct arena *arena);
/* How people call them: "0,1", "none"; NULL where nothing is dealt to it. Caller frees. */
char *local_gpus_names(const struct local_gpus *gpus, const char *role, int index) MUST_USE;
