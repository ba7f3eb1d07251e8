/* GPUs of this machine: which there are, and which of them CUDA_VISIBLE_DEVICES shows.
 *
 * Sources: CUDA C++ Programming Guide, "CUDA Environment Variables"; NVIDIA Multi-Instance GPU User
 * Guide. */
#pragma once

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

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

/* Some of them are MIG devices, of which CUDA shows a process one at most. */
bool gpus_have_mig(const struct gpus *gpus);
gpu_set gpus_all(const struct gpus *gpus);
size_t gpus_count(gpu_set set);
/* Adds "0,1", or "none". */
void gpus_add_names(const struct gpus *gpus, gpu_set set, struct text *text);
/* Adds "0,1 NVIDIA A100-SXM4-40GB; 2 Tesla T4": all of them. */
void gpus_add_models(const struct gpus *gpus, struct text *text);
/* Adds the value of CUDA_VISIBLE_DEVICES that shows these. */
void gpus_add_ids(const struct gpus *gpus, gpu_set set, struct text *text);
