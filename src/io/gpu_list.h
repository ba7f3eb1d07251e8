/* Which GPUs of NVIDIA this machine has, as its driver tells. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

/* Appends what `nvidia-smi -L` prints: by NVML (libnvidia-ml.so.1), else by that program. NVML is
 * opened in a process of its own, so that a driver that hangs or crashes takes nothing of ours
 * along, and only where anything says that there is a driver: elsewhere this costs a few system
 * calls, and nothing is appended. ERR_UNREACHABLE: there is a driver, and it does not answer. */
int gpu_list_read(struct text *text, struct err *err) MUST_USE;
