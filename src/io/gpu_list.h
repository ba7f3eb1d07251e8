/* Lists the NVIDIA GPUs of this machine, as its driver reports them. */
#pragma once

#include "base/text.h"

/* Appends the output of `nvidia-smi -L`: from NVML (libnvidia-ml.so.1), else from that program.
 * NVML is opened in a separate process, because the driver may hang or crash. Without a sign of a
 * driver, this costs a few system calls, and nothing is appended. ERR_UNREACHABLE: there is a
 * driver, and it does not respond. */
int gpu_list_read(struct text *text, struct err *err) MUST_USE;
