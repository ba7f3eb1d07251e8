/* The GPUs of this machine, and the jobs that hold them. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/gpu_assignment.h"
#include "spec/gpus.h"
#include "store/store.h"

/* The GPUs that may be assigned: those that the driver reports, as far as `visible` (a value of
 * CUDA_VISIBLE_DEVICES; NULL: all) permits. Texts live in the arena. */
void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus);

/* Checks whether a job would get the GPUs that it requests if all its replicas were assigned again.
 * First cleans up jobs whose supervisor was killed, which releases theirs. Messages are added to
 * `told`. ERR_LIMIT names the jobs that hold them. */
int machine_gpus_check(const struct gpus *gpus, const struct job *job, struct store *store,
		       struct text *told, struct err *err) MUST_USE;
/* The same for a caller without an open store. */
int machine_gpus_check_free(const struct gpus *gpus, const struct job *job,
			    const char *state_folder, struct text *told, struct err *err) MUST_USE;

/* gpu_assignment_create with the GPUs that other jobs do not hold. Messages are added to `told`. */
int machine_gpus_assign(const struct gpus *gpus, const struct job *job, struct claims *claims,
			const struct gpu_assignment *last, struct arena *arena,
			struct gpu_assignment *ret_deal, struct text *told,
			struct err *err) MUST_USE;

/* The GPUs that other owners hold; adds who they are: "job 'x' holds 0,1; job 'y' holds 2". */
int machine_gpus_held(const struct gpus *gpus, struct claims *claims, const char *own_uid,
		      gpu_set *ret_held, struct text *holders, struct err *err) MUST_USE;
