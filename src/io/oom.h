/* Processes that the kernel killed for lack of memory. */
#pragma once

#include "base/own.h"

#include <stdint.h>

/* The count so far, in our control group if its file can be read (cgroups v2, then v1), else on the
 * whole machine; 0 if unknown. A count that has increased distinguishes the kernel's SIGKILL from
 * another one. */
int64_t oom_kill_count(void);

/* The last one, as far as we may know it, and the limit that counted: "process 4711 (python3) had
 * 1.9 GB, the control group is limited to 2.0 GB". Caller frees. */
char *oom_kill_describe(void) MUST_USE;
