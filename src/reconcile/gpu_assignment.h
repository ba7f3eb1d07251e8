/* Assigns the GPUs of this machine to the replicas of a job. TensorFlow takes all memory of every
 * GPU that it sees, so each process sees only its own. docs/design/0024-gpus.md has the reasons. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "spec/gpus.h"
#include "spec/job.h"

/* The GPUs of one replica. */
struct gpu_share {
	const char *role;
	int index;
	gpu_set set;
	bool is_own; /* the job's own variables choose its GPUs: none are assigned */
};

struct gpu_assignment {
	struct gpu_share *hands; /* one for each replica */
	size_t count;
	size_t share; /* GPUs of each replica that requests no number */
};

/* Checks the requested numbers against the machine's GPUs. ERR_LIMIT has both, and advice. */
int gpu_assignment_check(const struct job *job, const struct gpus *gpus, struct err *err) MUST_USE;

/* The GPUs that the job requests, of all its replicas together. */
size_t gpu_assignment_count(const struct job *job, const struct gpus *gpus);

/* Assigns the GPUs of `free`. Replicas with a share in `last` keep it; it is not part of `free`.
 * Replicas that request a number get it. The others get equal parts of the rest, because
 * MultiWorkerMirroredStrategy needs as many on each worker: chief and workers, then the evaluator,
 * which is omitted if the GPUs suffice only for the others. A parameter server gets none. If there
 * are too few for a part each, none of these gets any. `last` may be NULL. The result is in the
 * arena. Returns ERR_LIMIT if the requested numbers exceed `free`; the text has `holders`, as "job
 * 'x' holds 0,1" ("": no holder). */
int gpu_assignment_create(const struct job *job, const struct gpus *gpus, gpu_set free,
			  const struct gpu_assignment *last, const char *holders,
			  struct arena *arena, struct gpu_assignment *ret_deal,
			  struct err *err) MUST_USE;

/* The share of a replica; NULL: none yet. */
const struct gpu_share *gpu_assignment_find(const struct gpu_assignment *deal, const char *role,
					    int index);
/* All assigned GPUs. */
gpu_set gpu_assignment_all(const struct gpu_assignment *deal);
/* True if a replica has GPUs of its own, and no two replicas share any. */
bool gpu_assignment_is_disjoint(const struct gpu_assignment *deal);
/* Appends one sentence for the user: which replica got which GPUs, or why none got any; `free` as
 * before the assignment, and `holders`. */
void gpu_assignment_describe(const struct job *job, const struct gpus *gpus,
			     const struct gpu_assignment *deal, gpu_set free, const char *holders,
			     struct text *text);
