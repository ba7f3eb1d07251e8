/* The GPUs of this machine, those that CUDA_VISIBLE_DEVICES shows, and scripts that choose among
 * them.
 *
 * Sources: CUDA C++ Programming Guide, "CUDA Environment Variables"; NVIDIA Multi-Instance GPU User
 * Guide. */
#pragma once

#include "base/mem.h"
#include "base/text.h"

#define GPUS_VARIABLE "CUDA_VISIBLE_DEVICES"

struct gpu {
	const char *name; /* as nvidia-smi numbers it: "0"; "0:1" the second MIG device of GPU 0 */
	const char *id; /* its word in CUDA_VISIBLE_DEVICES: "GPU-5c89…", "MIG-…", or a number */
	const char *model; /* "NVIDIA A100-SXM4-40GB"; NULL: unknown */
	int number; /* of its claim */
};

/* A set of GPUs: bit i is element i of the list. */
typedef uint64_t gpu_set;
#define GPUS_LIMIT 64

struct gpus {
	struct gpu list[GPUS_LIMIT];
	size_t count;
	bool has_list; /* the machine's driver has listed them, not CUDA_VISIBLE_DEVICES alone */
	const char *driver; /* its version; NULL: unknown */
	const char *fault; /* why some or all could not be listed; NULL: none */
	bool is_limited; /* by CUDA_VISIBLE_DEVICES */
};

/* Reads the output of `nvidia-smi -L`, with or without a line "Driver Version: 550.54.14" before
 * it. A GPU that is split into MIG devices is not listed itself. Texts live in the arena. */
void gpus_read(const char *text, struct arena *arena, struct gpus *ret_gpus);

/* Keeps those that the value of CUDA_VISIBLE_DEVICES shows, in its order: numbers, prefixes of
 * uuids, MIG devices. As in CUDA, the value ends at the first invalid word; empty or -1 shows none,
 * NULL shows all. The words become their ids. If the machine has no list, the words are the
 * list. A word for a GPU that the machine does not have is a fault. */
void gpus_limit(struct gpus *gpus, const char *visible, struct arena *arena);

/* Whether some are MIG devices, of which CUDA shows a process one at most. */
bool gpus_have_mig(const struct gpus *gpus);
gpu_set gpus_all(const struct gpus *gpus);
size_t gpus_count(gpu_set set);
/* Removes the first ones, as many as there are up to `count`, and returns them. */
gpu_set gpus_take_lowest(gpu_set *set, size_t count);
/* Adds "0,1", or "none". */
void gpus_add_names(const struct gpus *gpus, gpu_set set, struct text *text);
/* Whether such names have the GPU of this number, or a MIG device of it ("1:0"). NULL: no. */
bool gpus_names_have(const char *names, int number);
/* Adds all of them: "0,1 NVIDIA A100-SXM4-40GB; 2 Tesla T4". */
void gpus_add_models(const struct gpus *gpus, struct text *text);
/* Adds the value of CUDA_VISIBLE_DEVICES for this set. */
void gpus_add_ids(const struct gpus *gpus, gpu_set set, struct text *text);

/* Whether a Python script, by its own import statements, imports PyTorch, or a library on top of
 * it, and neither TensorFlow nor JAX. Processes of PyTorch choose a GPU among all by LOCAL_RANK;
 * those of TensorFlow and JAX take every GPU that they see. */
bool script_is_for_torch(const char *text);
