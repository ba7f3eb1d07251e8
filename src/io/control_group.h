/* What our control group (cgroups(7)) and this machine permit: memory, processes, cores. */
#pragma once

#include "base/own.h"

#include <sched.h>

enum control_group_limit {
	CONTROL_GROUP_MEMORY, /* bytes that are left */
	CONTROL_GROUP_ALL_MEMORY, /* bytes, those in use too */
	CONTROL_GROUP_PROCESSES, /* processes that are left; threads count as well */
	CONTROL_GROUP_PROCESSORS, /* thousandths of a CPU, for all its processes together */
};

/* The least that is permitted by our own group and every group above it; -1: no limit, or unknown.
 */
int64_t control_group_read(enum control_group_limit limit);

/* The same for another place: `root` is where the hierarchies are mounted ("/sys/fs/cgroup"),
 * `groups` has the lines of /proc/PID/cgroup. */
int64_t control_group_read_at(const char *root, const char *groups, enum control_group_limit limit);

/* How many processes the kernel has killed for lack of memory so far, in our control group if its
 * file can be read (cgroups v2, then v1), else on the whole machine; 0 if unknown. A count that has
 * increased distinguishes the kernel's SIGKILL from another one. */
int64_t oom_kill_count(void);

/* The last one, as far as we may know it, and the limit that counted: "process 4711 (python3) had
 * 1.9 GB, the control group is limited to 2.0 GB". Caller frees. */
char *oom_kill_describe(void) MUST_USE;

/* Cores that this process and its children may use: limited by its affinity and by the quotas of
 * its control groups (docker run --cpus 1.5), which may be fractions of cores. More than 0. Each
 * hyper-thread counts. */
double cores_usable(void);
/* The number rounded down, at least 1. */
int cores_count(void);
/* The same limits, but the hyper-threads of a core count as one: two threads that compute on one
 * core are no faster than one. More than 0. */
double cores_real(void);
/* The cores of these CPUs, by the topology in `folder` ("/sys/devices/system/cpu"). A CPU whose
 * topology is unknown counts as a core. */
int cores_real_at(const char *folder, const cpu_set_t *cpus, size_t n_cpus);
