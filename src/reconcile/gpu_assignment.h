/* Which replica of a job gets which GPUs of this machine. TensorFlow takes all memory of every GPU
 * that it sees, so each process is shown its own. docs/design/0024-gpus.md has the reasons. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/gpus.h"
#include "spec/job.h"

#include <stdbool.h>
#include <stddef.h>

/* What one replica gets. */
struct gpu_share {
	const char *role;
	int index;
	gpu_set set;
	bool is_own; /* the job's own variables say what it sees: nothing is dealt to it */
};

struct gpu_assignment {
	struct gpu_share *hands; /* one for each replica */
	size_t count;
	size_t share; /* GPUs of each replica that says nothing of them */
};

/* Checks what the job asks for by number against what there is at most. ERR_LIMIT names both, and
 * what to do. */
int gpu_assignment_check(const struct job *job, const struct gpus *gpus, struct err *err) MUST_USE;

/* Deals `free` out. Replicas that have a hand in `last` keep it (it is not part of `free`); those
 * that ask for a number get it; the others share the rest in equal parts, because
 * MultiWorkerMirroredStrategy needs as many on each worker: chief and workers, then the evaluator,
 * which is left out where there are only enough for the others. A parameter server gets none. Where
 * there are too few for a part each, none of those gets any. `last` may be NULL. The deal lives in
 * the arena. ERR_LIMIT when there are too few for those that ask: it
 * names `holders`, as "job 'x' holds 0,1" ("" when nobody holds any). */
int gpu_assignment_create(const struct job *job, const struct gpus *gpus, gpu_set free,
			  const struct gpu_assignment *last, const char *holders,
			  struct arena *arena, struct gpu_assignment *ret_deal,
			  struct err *err) MUST_USE;

/* The hand of a replica; NULL: there is none yet. */
const struct gpu_share *gpu_assignment_find(const struct gpu_assignment *deal, const char *role,
					    int index);
/* All that were dealt. */
gpu_set gpu_assignment_all(const struct gpu_assignment *deal);
/* True when any replica sees GPUs that no other one sees, and none sees those of another. */
bool gpu_assignment_is_disjoint(const struct gpu_assignment *deal);
/* One sentence for the person: which replica got which, or why none got any; `free` as it was dealt
 * from, and `holders`. */
void gpu_assignment_describe(const struct job *job, const struct gpus *gpus,
			     const struct gpu_assignment *deal, gpu_set free, const char *holders,
			     struct text *text);
