/* Reads sched_getaffinity(2) and cpu.max of cgroups(7): the smaller counts. */
#include "io/cores.h"

#include "io/control_group.h"

#include <sched.h>

double cores_usable(void)
{
	cpu_set_t set;
	double cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	double limit = (double) control_group_read(CONTROL_GROUP_PROCESSORS) / 1000;

	return limit > 0 && limit < cores ? limit : cores;
}

int cores_count(void)
{
	int cores = (int) cores_usable();

	return cores > 1 ? cores : 1;
}
