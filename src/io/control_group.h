/* What our control group (cgroups(7)) still allows. */
#pragma once

#include <stdint.h>

enum control_group_limit {
	CONTROL_GROUP_MEMORY, /* bytes that are left */
	CONTROL_GROUP_PROCESSES, /* that are left; threads count as well */
	CONTROL_GROUP_PROCESSORS, /* in thousandths, of all its processes together */
};

/* What our own group and every group above it leave; -1: no limit, or nothing tells. */
int64_t control_group_read(enum control_group_limit limit);

/* The same of any place: `root` is where the hierarchies are mounted ("/sys/fs/cgroup"), `groups`
 * has the lines of /proc/PID/cgroup. */
int64_t control_group_read_at(const char *root, const char *groups, enum control_group_limit limit);
