/* What our control group (cgroups(7)) still permits. */
#pragma once

#include <stdint.h>

enum control_group_limit {
	CONTROL_GROUP_MEMORY, /* bytes that are left */
	CONTROL_GROUP_PROCESSES, /* processes that are left; threads count as well */
	CONTROL_GROUP_PROCESSORS, /* thousandths of a CPU, for all its processes together */
};

/* The least that is left by our own group and every group above it; -1: no limit, or unknown. */
int64_t control_group_read(enum control_group_limit limit);

/* The same for another place: `root` is where the hierarchies are mounted ("/sys/fs/cgroup"),
 * `groups` has the lines of /proc/PID/cgroup. */
int64_t control_group_read_at(const char *root, const char *groups, enum control_group_limit limit);
