/* What NVIDIA's driver says of the GPUs of this machine, through its library NVML. Without a sign
 * of a driver, this costs a few system calls, and the answer is empty. ERR_UNREACHABLE: there is a
 * driver, and it does not respond.
 *
 * Source: docs.nvidia.com/deploy/nvml-api */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "spec/gpus.h"

/* Appends the output of `nvidia-smi -L`: from NVML (libnvidia-ml.so.1), else from that program. */
int nvml_list(struct text *text, struct err *err) MUST_USE;

#define MEBIBYTE (1024 * 1024)

struct gpu_process {
	int64_t pid; /* of the initial PID namespace */
	int64_t memory; /* bytes of the GPU's memory; -1: unknown */
};

/* -1: unknown. Of a GPU that is divided into MIG devices, the whole. */
struct gpu_load {
	int number; /* as nvidia-smi numbers it */
	int busy; /* percent of the last moment, in which it computed something */
	int64_t memory_used, memory; /* bytes */
	int degrees; /* Celsius */
	int milliwatts;
	struct gpu_process *processes; /* also of other users */
	size_t n_processes;
};

struct gpu_loads {
	struct gpu_load list[GPUS_LIMIT];
	size_t count;
};

/* Whether there is a sign of a driver. */
bool nvml_is_likely(void);
/* Only from NVML. Processes live in the arena; NULL: they are skipped. */
int nvml_loads(struct arena *arena, struct gpu_loads *ret_loads, struct err *err) MUST_USE;
