/* GPUs of this machine: which there are, and which replica of a job gets which of them.
 *
 * TensorFlow takes all memory of every GPU that it sees, so each process is shown its own:
 * CUDA_VISIBLE_DEVICES names them. Sources: CUDA C++ Programming Guide, "CUDA Environment
 * Variables"; NVIDIA Multi-Instance GPU User Guide. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "core/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUS_VARIABLE "CUDA_VISIBLE_DEVICES"

struct gpu {
	const char *name; /* as nvidia-smi numbers it: "0"; "0:1" the second MIG device of GPU 0 */
	const char *id; /* its word in CUDA_VISIBLE_DEVICES: "GPU-5c89…", "MIG-…", or a number */
	const char *model; /* "NVIDIA A100-SXM4-40GB"; NULL: not known */
	int number; /* of its claim */
};

/* A set of GPUs: bit i stands for element i of the list. */
typedef uint64_t gpu_set;
#define GPUS_LIMIT 64

struct gpus {
	struct gpu list[GPUS_LIMIT];
	size_t count;
	bool has_list; /* the machine told which there are, and not CUDA_VISIBLE_DEVICES alone */
	const char *driver; /* its version; NULL: not known */
	const char *fault; /* why nobody could tell; NULL: none */
};

/* Reads what `nvidia-smi -L` prints, with a line "Driver Version: 550.54.14" before it or without.
 * A GPU that is cut into MIG devices is none itself. Texts live in the arena. */
void gpus_read(const char *text, struct arena *arena, struct gpus *ret_gpus);

/* Keeps those that the value of CUDA_VISIBLE_DEVICES shows, in its order: numbers, beginnings of
 * uuids, MIG devices. It ends at the first word that names none, as for CUDA; empty or -1 shows
 * none, NULL shows all. They keep its words as their ids. Without a list of the machine its words
 * are the list. */
void gpus_limit(struct gpus *gpus, const char *visible, struct arena *arena);

gpu_set gpus_all(const struct gpus *gpus);
size_t gpus_count(gpu_set set);
/* Adds "0,1", or "none". */
void gpus_add_names(const struct gpus *gpus, gpu_set set, struct text *text);
/* Adds "0,1 NVIDIA A100-SXM4-40GB; 2 Tesla T4": all of them. */
void gpus_add_models(const struct gpus *gpus, struct text *text);
/* Adds the value of CUDA_VISIBLE_DEVICES that shows these. */
void gpus_add_ids(const struct gpus *gpus, gpu_set set, struct text *text);

/* What one replica gets. */
struct gpu_hand {
	const char *role;
	int index;
	gpu_set set;
	bool is_own; /* the job's own variables say what it sees: nothing is dealt to it */
};

struct gpu_deal {
	struct gpu_hand *hands; /* one for each replica */
	size_t count;
	size_t share; /* GPUs of each replica that says nothing of them */
};

/* Checks what the job asks for by number against what there is at most. ERR_LIMIT names both, and
 * what to do. */
int gpus_check(const struct job *job, const struct gpus *gpus, struct err *err) MUST_USE;

/* Deals `free` out. Replicas that have a hand in `last` keep it (it is not part of `free`); those
 * that ask for a number get it; the others share the rest in equal parts, because
 * MultiWorkerMirroredStrategy needs as many on each worker: chief and workers, then the evaluator,
 * which is left out where there are only enough for the others. A parameter server gets none. Where
 * there are too few for a part each, none of those gets any. `last` may be NULL. The deal lives in
 * the arena. ERR_LIMIT when there are too few for those that ask: it
 * names `holders`, as "job 'x' holds 0,1" ("" when nobody holds any). */
int gpus_deal(const struct job *job, const struct gpus *gpus, gpu_set free,
	      const struct gpu_deal *last, const char *holders, struct arena *arena,
	      struct gpu_deal *ret_deal, struct err *err) MUST_USE;

/* The hand of a replica; NULL: there is none yet. */
const struct gpu_hand *gpu_deal_find(const struct gpu_deal *deal, const char *role, int index);
/* All that were dealt. */
gpu_set gpu_deal_all(const struct gpu_deal *deal);
/* True when any replica sees GPUs that no other one sees, and none sees those of another. */
bool gpu_deal_is_apart(const struct gpu_deal *deal);
/* One sentence for the person: who got which, or why nobody got any; `free` as it was dealt from,
 * and `holders`. */
void gpu_deal_describe(const struct job *job, const struct gpus *gpus, const struct gpu_deal *deal,
		       gpu_set free, const char *holders, struct text *text);
