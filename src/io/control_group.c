/* Reads limits and usage of a group and of each one above it: the tightest limit counts.
 *
 * Unified hierarchy (v2): memory.max, memory.current, pids.max, pids.current, cpu.max. Version 1
 * has a hierarchy for each controller, and other names for memory and CPUs. A container may see a
 * path of its host that is not mounted in the container; then the parent directories lead to what
 * is mounted. */
#include "io/control_group.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <stdio.h>
#include <sys/klog.h>
#include <sys/sysinfo.h>

/* Version 1 shows a huge number, rounded to whole pages, if there is no limit. */
#define NO_LIMIT_ABOVE ((int64_t) 1 << 60)

/* The files of a limit in a version. */
struct names {
	const char *limit;
	const char *use; /* NULL: the limit counts, whatever is in use */
	const char *file_cache; /* of memory.stat: used, and freed when it is needed */
};

/* The text of a file in a directory; NULL when it cannot be read. Caller frees. */
static char *read_control_group_file(const char *folder, const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);

	return file_read_text(path);
}

/* The number on the only line of a file; -1 for "max", or if there is no such file. */
static int64_t read_control_group_number(const char *folder, const char *name)
{
	char *text CLEANUP(mem_free_text) = read_control_group_file(folder, name);
	int64_t number;

	if (!text)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	return text_read_int(text, 0, NO_LIMIT_ABOVE, &number, NULL) ? -1 : number;
}

/* What is left of one group's limit; -1: no limit. */
static int64_t read_room(const char *folder, const struct names *names)
{
	int64_t limit = read_control_group_number(folder, names->limit);
	int64_t use = names->use ? read_control_group_number(folder, names->use) : 0;

	if (limit < 0 || use < 0)
		return -1;
	const char *title = names->file_cache;
	char *text CLEANUP(mem_free_text) =
		title ? read_control_group_file(folder, "memory.stat") : NULL;
	const char *line = text ? strstr(text, title) : NULL;
	int64_t room = limit - use + (line ? strtoll(line + strlen(title), NULL, 10) : 0);

	return room > 0 ? room : 0;
}

/* CPU thousandths for a quota of microseconds in each period: "150000 100000" or "max 100000" in
 * one file, or in two. */
static int64_t read_processors(const char *folder, const struct names *names)
{
	char *text CLEANUP(mem_free_text) = read_control_group_file(folder, names->limit);
	long long quota = 0, period = 0;

	if (names->use) {
		quota = read_control_group_number(folder, names->limit);
		period = read_control_group_number(folder, names->use);
	} else if (text) {
		sscanf(text, "%9lld %9lld", &quota, &period);
	}
	return quota > 0 && period > 0 ? quota * 1000 / period : -1;
}

/* How to read each limit: in the unified hierarchy, and in that of its controller in version 1. */
static const struct limit {
	const char *controller;
	const char *old_folder; /* of its version 1 hierarchy */
	int64_t (*read)(const char *folder, const struct names *names);
	struct names names, old_names;
} limits[] = {
	[CONTROL_GROUP_MEMORY] = {"memory",
				  "/memory",
				  read_room,
				  {"memory.max", "memory.current", "\ninactive_file "},
				  {"memory.limit_in_bytes", "memory.usage_in_bytes",
				   "\ntotal_inactive_file "}},
	[CONTROL_GROUP_ALL_MEMORY] = {"memory",
				      "/memory",
				      read_room,
				      {.limit = "memory.max"},
				      {.limit = "memory.limit_in_bytes"}},
	[CONTROL_GROUP_PROCESSES] = {"pids",
				     "/pids",
				     read_room,
				     {"pids.max", "pids.current", NULL},
				     {"pids.max", "pids.current", NULL}},
	[CONTROL_GROUP_PROCESSORS] = {"cpu",
				      "/cpu",
				      read_processors,
				      {.limit = "cpu.max"},
				      {"cpu.cfs_quota_us", "cpu.cfs_period_us", NULL}},
};

/* The group and all above it; `root` is where its hierarchy is mounted. */
static void read_upwards(const char *root, const char *group, const struct limit *limit,
			 const struct names *names, int64_t *least)
{
	char *folder CLEANUP(mem_free_text) = mem_format("%s%s", root, group);

	while (strlen(folder) >= strlen(root)) {
		int64_t found = limit->read(folder, names);
		char *slash = strrchr(folder, '/');

		if (found >= 0 && (*least < 0 || found < *least))
			*least = found;
		if (!slash)
			break;
		*slash = '\0';
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (!strncmp(list, word, len) && (list[len] == ',' || !list[len]))
			return true;
	return false;
}

/* One line, "ID:CONTROLLERS:FOLDER"; the unified hierarchy has no controllers in it. */
static void read_control_group_line(const char *root, char *line, const struct limit *limit,
				    int64_t *least)
{
	strsep(&line, ":");
	const char *controllers = strsep(&line, ":"), *group = line;
	char *old_root CLEANUP(mem_free_text) = mem_format("%s%s", root, limit->old_folder);

	if (!controllers || !group)
		return;
	if (!*controllers)
		read_upwards(root, group, limit, &limit->names, least);
	else if (has_word(controllers, limit->controller))
		read_upwards(old_root, group, limit, &limit->old_names, least);
}

int64_t control_group_read_at(const char *root, const char *groups, enum control_group_limit limit)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(groups);
	char *rest = copy;
	int64_t least = -1;

	for (char *line; (line = strsep(&rest, "\n"));)
		read_control_group_line(root, line, &limits[limit], &least);
	return least;
}

int64_t control_group_read(enum control_group_limit limit)
{
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");

	return control_group_read_at("/sys/fs/cgroup", groups ? groups : "", limit);
}

/* Killed processes. */

/* The counters, by kernel: memory.events (cgroup v2) and memory.oom_control (v1) count processes
 * killed in that group for any kind of shortage, /proc/vmstat counts for the machine. Each has a
 * line "oom_kill N", which is not the first one. */

#define COUNTER "\noom_kill "
#define SYSLOG_ACTION_READ_ALL 3 /* syslog(2); glibc has no header for it */
#define KERNEL_LOG_SIZE (256 * 1024)

/* A directory of the memory controller, and the names of its files. */
struct memory_group {
	char *folder;
	const char *name; /* of the group, as the kernel says it: the end of `folder` */
	const char *counters;
};

static void memory_group_done(struct memory_group *group)
{
	free(TAKE(group->folder));
}

/* By /proc/self/cgroup, lines of "ID:CONTROLLERS:FOLDER". The unified hierarchy has no controllers
 * in it (cgroups(7)); it need not have that of memory. */
static bool find_memory_group(struct memory_group *ret_group)
{
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");
	char *rest = groups, *line;

	while ((line = strsep(&rest, "\n"))) {
		strsep(&line, ":");
		const char *controllers = strsep(&line, ":"), *folder = line;
		bool is_unified = controllers && *controllers == '\0';

		if (!folder || (!is_unified && !text_equals(controllers, "memory")))
			continue;
		*ret_group = (struct memory_group){
			.folder = mem_format("/sys/fs/cgroup%s%s", is_unified ? "" : "/memory",
					     folder),
			.counters = is_unified ? "memory.events" : "memory.oom_control",
		};
		ret_group->name = ret_group->folder + strlen(ret_group->folder) - strlen(folder);
		char *file CLEANUP(mem_free_text) =
			mem_format("%s/%s", ret_group->folder, ret_group->counters);

		if (access(file, R_OK) == 0)
			return true;
		memory_group_done(ret_group);
	}
	return false;
}

static bool read_counter(const char *path, int64_t *ret_count)
{
	char *text CLEANUP(mem_free_text) = file_read_text(path);
	const char *line = text ? strstr(text, COUNTER) : NULL;

	if (line)
		*ret_count = atoll(line + strlen(COUNTER));
	return line;
}

int64_t oom_kill_count(void)
{
	struct memory_group group CLEANUP(memory_group_done) = {0};
	int64_t count = 0;

	if (find_memory_group(&group)) {
		char *path CLEANUP(mem_free_text) =
			mem_format("%s/%s", group.folder, group.counters);

		if (read_counter(path, &count))
			return count;
	}
	read_counter("/proc/vmstat", &count);
	return count;
}

/* In kB; 0 if the line does not say. */
static uint64_t number_after(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:…kB, anon-rss:…kB,
 * file-rss:…kB, shmem-rss:…kB, …" (mm/oom_kill.c) */
static void add_victim(char *line, struct text *sentence)
{
	static const char killed[] = "Killed process ";
	const char *found = strstr(line, killed);
	const char *name = found ? strstr(found, " (") : NULL;
	const char *name_end = name ? strstr(name, ") total-vm:") : NULL;

	if (!name_end)
		return;
	uint64_t memory = number_after(name_end, "anon-rss:") +
			  number_after(name_end, "file-rss:") +
			  number_after(name_end, "shmem-rss:");
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(memory * 1024);

	text_addf(sentence, "process %d%.*s) had %s, ", atoi(found + strlen(killed)),
		  (int) (name_end - name), name, amount);
}

/* "oom-kill:constraint=…,oom_memcg=/a,task_memcg=/a/b,task=python3,pid=4711,uid=0", the line
 * before. In a namespace of control groups our own name is "/", and any group may be ours. */
static bool is_in_group(const char *line, const char *group)
{
	static const char name[] = "task_memcg=";
	const char *found = strstr(line, name);
	size_t len = strlen(group);

	if (!found || !text_starts_with(found + strlen(name), group))
		return false;
	return text_ends_with(group, "/") || strchr(",/", found[strlen(name) + len]);
}

/* Often only root may read the kernel's log. */
static void add_last_victim(struct text *sentence)
{
	struct memory_group group CLEANUP(memory_group_done) = {0};
	const char *own = find_memory_group(&group) ? group.name : "/";
	bool is_ours = false;
	char *log CLEANUP(mem_free_text) = mem_new_array(KERNEL_LOG_SIZE + 1, 1);
	int len = klogctl(SYSLOG_ACTION_READ_ALL, log, KERNEL_LOG_SIZE);
	char *rest = len > 0 ? log : NULL, *line, *last = NULL;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (strstr(line, "oom-kill:"))
			is_ours = is_in_group(line, own);
		else if (is_ours && strstr(line, "Killed process "))
			last = line;
	}
	if (last)
		add_victim(last, sentence);
}

char *oom_kill_describe(void)
{
	struct text sentence CLEANUP(text_done) = {0};
	struct sysinfo system;
	uint64_t machine = sysinfo(&system) < 0 ? 0 : (uint64_t) system.totalram * system.mem_unit;
	int64_t limit = control_group_read(CONTROL_GROUP_ALL_MEMORY);
	bool is_limited = limit > 0 && (uint64_t) limit < machine;
	char *amount CLEANUP(mem_free_text) =
		amount_of_bytes(is_limited ? (uint64_t) limit : machine);

	add_last_victim(&sentence);
	text_addf(&sentence,
		  is_limited ? "the control group is limited to %s" : "this machine has %s",
		  amount);
	return text_take(&sentence);
}

/* Cores. */

/* Reads sched_getaffinity(2), cpu.max of cgroups(7) and the topology of the CPUs: the smallest
 * number counts. */

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
