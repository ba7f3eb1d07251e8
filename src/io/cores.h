/* Cores that this process and its children may use. */
#pragma once

#include <sched.h>
#include <stddef.h>

/* Limited by its affinity and by the quotas of its control groups (docker run --cpus 1.5), which
 * may be fractions of cores. More than 0. Each hyper-thread counts. */
double cores_usable(void);
/* The number rounded down, at least 1. */
int cores_count(void);
/* The same limits, but the hyper-threads of a core count as one: two threads that compute on one
 * core are no faster than one. More than 0. */
double cores_real(void);
/* The cores of these CPUs, by the topology in `folder` ("/sys/devices/system/cpu"). A CPU whose
 * topology is unknown counts as a core. */
int cores_real_at(const char *folder, const cpu_set_t *cpus, size_t n_cpus);
