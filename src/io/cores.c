/* Reads sched_getaffinity(2) and cpu.max of cgroups(7): the smaller counts. */
#include "io/cores.h"

#include "io/control_group.h"

#include <sched.h>
#include <stdint.h>

double cores_usable(void)
{
	int64_t quota = control_group_read().processors;
	cpu_set_t set;
	double cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
	double limit = (double) quota / 1000;

	return limit > 0 && limit < cores ? limit : cores;
}

int cores_count(void)
{
	int cores = (int) cores_usable();

	return cores > 1 ? cores : 1;
}
