/* The GPUs of this machine, and the jobs that hold them. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "reconcile/gpu_assignment.h"
#include "spec/gpus.h"
#include "store/store.h"

/* Which may be dealt out: those that the driver tells, as far as `visible` (a value of
 * CUDA_VISIBLE_DEVICES; NULL: all) shows them. Texts live in the arena. */
void machine_gpus_find(const char *visible, struct arena *arena, struct gpus *ret_gpus);

/* Looks whether a job would get the GPUs that it asks for if all its replicas were dealt to anew.
 * Jobs whose supervisor died are settled first, which gives theirs back. What there is to say is
 * added to `told`. ERR_LIMIT names the jobs that hold them. */
int machine_gpus_check(const struct gpus *gpus, const struct job *job, struct store *store,
		       struct text *told, struct err *err) MUST_USE;
/* The same for a caller without an open store. */
int machine_gpus_check_free(const struct gpus *gpus, const struct job *job,
			    const char *state_folder, struct text *told, struct err *err) MUST_USE;

/* gpu_assignment_create of what other jobs leave. What is said of it is added to `told`. */
int machine_gpus_assign(const struct gpus *gpus, const struct job *job, struct claims *claims,
			const struct gpu_assignment *last, struct arena *arena,
			struct gpu_assignment *ret_deal, struct text *told,
			struct err *err) MUST_USE;

/* GPUs that others than this owner hold, and which they are: "job 'x' holds 0,1; job 'y' holds 2"
 * is added. */
int machine_gpus_held(const struct gpus *gpus, struct claims *claims, const char *own_uid,
		      gpu_set *ret_held, struct text *holders, struct err *err) MUST_USE;
