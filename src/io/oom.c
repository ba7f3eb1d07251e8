/* The counters, by kernel: memory.events (cgroup v2) and memory.oom_control (v1) count processes
 * killed in that group for any kind of shortage, /proc/vmstat counts for the machine. Each has a
 * line "oom_kill N". */
#include "io/oom.h"

#include "base/amount.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define COUNTER "oom_kill "
#define GROUPS "/sys/fs/cgroup"
#define SYSLOG_ACTION_READ_ALL 3 /* syslog(2); glibc has no header for it */
#define KERNEL_LOG_SIZE (256 * 1024)

/* A directory of the memory controller, and the names of its files. */
struct memory_group {
	char *folder;
	const char *name; /* of the group, as the kernel says it: the end of `folder` */
	const char *counters, *limit;
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
			.folder = mem_format(GROUPS "%s%s", is_unified ? "" : "/memory", folder),
			.counters = is_unified ? "memory.events" : "memory.oom_control",
			.limit = is_unified ? "memory.max" : "memory.limit_in_bytes",
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

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (text_starts_with(line, COUNTER)) {
			*ret_count = atoll(line + strlen(COUNTER));
			return true;
		}
	}
	return false;
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

static uint64_t memory_of_machine(void)
{
	struct sysinfo machine;

	return sysinfo(&machine) < 0 ? 0 : (uint64_t) machine.totalram * machine.mem_unit;
}

/* The smallest limit of our group and those around it; 0: none is below the machine's memory. */
static uint64_t limit_of_groups(void)
{
	struct memory_group group CLEANUP(memory_group_done) = {0};
	uint64_t least = memory_of_machine();
	bool is_limited = false;

	if (!find_memory_group(&group))
		return 0;
	for (char *slash; (slash = strrchr(group.folder, '/')); *slash = '\0') {
		if (strlen(group.folder) < strlen(GROUPS))
			break;
		char *path CLEANUP(mem_free_text) = mem_format("%s/%s", group.folder, group.limit);
		char *text CLEANUP(mem_free_text) = file_read_text(path);
		uint64_t limit = text ? strtoull(text, NULL, 10) : 0; /* "max" */

		is_limited |= limit && limit < least;
		least = limit && limit < least ? limit : least;
	}
	return is_limited ? least : 0;
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
	uint64_t limit = limit_of_groups();
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(limit ? limit : memory_of_machine());

	add_last_victim(&sentence);
	text_addf(&sentence, limit ? "the control group is limited to %s" : "this machine has %s",
		  amount);
	return text_take(&sentence);
}
