/* What our control group (cgroups(7)) still allows: memory and processes that are left in it, and
 * how much of the processors it may use. */
#pragma once

#include <stdint.h>

struct control_group_room {
	int64_t memory; /* bytes; -1: no limit, or nothing tells */
	int64_t processes; /* threads count as well; -1 likewise */
	int64_t processors; /* in thousandths, of all its processes together; -1 likewise */
};

/* The room that our own group and every group above it leave. */
struct control_group_room control_group_read(void);

/* The same of any place: `root` is where the hierarchies are mounted ("/sys/fs/cgroup"), `groups`
 * has the lines of /proc/PID/cgroup. */
struct control_group_room control_group_read_at(const char *root, const char *groups);
