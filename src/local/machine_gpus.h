/* The GPUs of this machine, the jobs that hold them, and those of one job. */
#pragma once

#include "base/err.h"
#include "reconcile/gpu_assignment.h"
#include "spec/gpus.h"
#include "store/store.h"

/* The GPUs that may be assigned: those that the driver reports, as far as `visible` (a value of
 * CUDA_VISIBLE_DEVICES; NULL: all) permits. Texts live in the arena. */
void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus);

/* Checks whether a job would get the GPUs that it requests if all its replicas were assigned again,
 * or, if it waits for them and has none, could get them.
 * First cleans up jobs whose supervisor was killed, which releases theirs. Messages are added to
 * `told`. ERR_LIMIT names the jobs that hold them. */
int machine_gpus_check(const struct gpus *gpus, const struct job *job, struct store *store,
		       struct text *told, struct err *err) MUST_USE;
/* The same for a caller without an open store. */
int machine_gpus_check_free(const struct gpus *gpus, const struct job *job,
			    const char *state_folder, struct text *told, struct err *err) MUST_USE;

/* The GPUs that other owners hold; adds who they are: "job 'x' holds 0,1; job 'y' holds 2". */
int machine_gpus_held(const struct gpus *gpus, struct claims *claims, const char *own_uid,
		      gpu_set *ret_held, struct text *holders, struct err *err) MUST_USE;

/* The GPUs of one job: those assigned to each replica, as the store records them. */
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
