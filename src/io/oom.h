/* Counts processes that the kernel killed for lack of memory. */
#pragma once

#include "base/own.h"

#include <stdint.h>

/* The count so far, in our control group if its file can be read (cgroups v2, then v1), else on the
 * whole machine; 0 if unknown. A count that has increased distinguishes the kernel's SIGKILL from
 * another one. */
int64_t oom_kill_count(void);
