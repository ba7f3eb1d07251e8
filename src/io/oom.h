/* Processes that the kernel ended for want of memory. */
#pragma once

#include "base/own.h"

#include <stdint.h>

/* How many so far, in our control group where its file can be read (cgroups v2, then v1), else on
 * the whole machine; 0 where nothing tells. A count that went up tells a SIGKILL of the kernel from
 * anybody else's. */
int64_t oom_kill_count(void);
