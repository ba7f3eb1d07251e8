/* Reads sched_getaffinity(2), cpu.max of cgroups(7) and the topology of the CPUs: the smallest
 * number counts. */
#include "io/cores.h"

#include "base/mem.h"
#include "base/own.h"
#include "io/control_group.h"
#include "io/file.h"

#include <stdlib.h>

#define CPUS "/sys/devices/system/cpu"

static double limit_to_quota(double cores)
{
	double limit = (double) control_group_read(CONTROL_GROUP_PROCESSORS) / 1000;

	return limit > 0 && limit < cores ? limit : cores;
}

double cores_usable(void)
{
	cpu_set_t set;

	return limit_to_quota(sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1);
}

int cores_count(void)
{
	int cores = (int) cores_usable();

	return cores > 1 ? cores : 1;
}

/* The first of these CPUs in a list such as "0-1,4"; `cpu` if none is. */
static size_t first_of(const char *list, const cpu_set_t *cpus, size_t n_cpus, size_t cpu)
{
	char *rest = (char *) list;

	while (*rest >= '0' && *rest <= '9') {
		size_t low = strtoul(rest, &rest, 10);
		size_t high = *rest == '-' ? strtoul(rest + 1, &rest, 10) : low;

		for (; low <= high && low < n_cpus; low++)
			if (CPU_ISSET(low, cpus))
				return low;
		rest += *rest == ',';
	}
	return cpu;
}

/* Each core is counted at the first of its threads that may be used. */
int cores_real_at(const char *folder, const cpu_set_t *cpus, size_t n_cpus)
{
	int cores = 0;

	for (size_t cpu = 0; cpu < n_cpus; cpu++) {
		if (!CPU_ISSET(cpu, cpus))
			continue;
		char *path CLEANUP(mem_free_text) =
			mem_format("%s/cpu%zu/topology/thread_siblings_list", folder, cpu);
		char *list CLEANUP(mem_free_text) = file_read_text(path);

		cores += first_of(list ? list : "", cpus, n_cpus, cpu) == cpu;
	}
	return cores;
}

double cores_real(void)
{
	cpu_set_t set;
	int cores = sched_getaffinity(0, sizeof(set), &set) == 0
			    ? cores_real_at(CPUS, &set, CPU_SETSIZE)
			    : 1;

	return limit_to_quota(cores > 1 ? cores : 1);
}
