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
#include <stdlib.h>
#include <string.h>

/* Version 1 shows a huge number, rounded to whole pages, if there is no limit. */
#define NO_LIMIT_ABOVE ((int64_t) 1 << 60)

/* The file names of a version. */
struct names {
	const char *limit;
	const char *use;
	const char *file_cache; /* of memory.stat: used, and freed when it is needed */
};

static const struct names memory_names = {"memory.max", "memory.current", "\ninactive_file "};
static const struct names old_memory_names = {"memory.limit_in_bytes", "memory.usage_in_bytes",
					      "\ntotal_inactive_file "};
static const struct names process_names = {"pids.max", "pids.current", NULL};

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

static int64_t read_file_cache(const char *folder, const char *title)
{
	char *text CLEANUP(mem_free_text) =
		title ? read_control_group_file(folder, "memory.stat") : NULL;
	const char *line = text ? strstr(text, title) : NULL;

	return line ? strtoll(line + strlen(title), NULL, 10) : 0;
}

/* What is left of one group's limit; -1: no limit. */
static int64_t read_room(const char *folder, const struct names *names)
{
	int64_t limit = read_control_group_number(folder, names->limit);
	int64_t use = read_control_group_number(folder, names->use);

	if (limit < 0 || use < 0)
		return -1;
	int64_t room = limit - use + read_file_cache(folder, names->file_cache);

	return room > 0 ? room : 0;
}

static int64_t read_memory(const char *folder)
{
	return read_room(folder, &memory_names);
}

static int64_t read_old_memory(const char *folder)
{
	return read_room(folder, &old_memory_names);
}

static int64_t read_processes(const char *folder)
{
	return read_room(folder, &process_names);
}

/* CPU thousandths for `quota` microseconds in each `period` of microseconds. */
static int64_t thousandths_of(int64_t quota, int64_t period)
{
	return quota > 0 && period > 0 ? quota * 1000 / period : -1;
}

/* "150000 100000", or "max 100000". */
static int64_t read_processors(const char *folder)
{
	char *text CLEANUP(mem_free_text) = read_control_group_file(folder, "cpu.max");
	long long quota = 0, period = 0;

	if (!text || sscanf(text, "%9lld %9lld", &quota, &period) != 2)
		return -1;
	return thousandths_of(quota, period);
}

static int64_t read_old_processors(const char *folder)
{
	return thousandths_of(read_control_group_number(folder, "cpu.cfs_quota_us"),
			      read_control_group_number(folder, "cpu.cfs_period_us"));
}

static void lower_least_room(int64_t *least, int64_t room)
{
	if (room >= 0 && (*least < 0 || room < *least))
		*least = room;
}

/* The group and all above it; `root` is where its hierarchy is mounted. */
static void read_upwards(const char *root, const char *group, int64_t (*read)(const char *folder),
			 int64_t *least)
{
	char *folder CLEANUP(mem_free_text) = mem_format("%s%s", root, group);

	while (strlen(folder) >= strlen(root)) {
		lower_least_room(least, read(folder));
		char *slash = strrchr(folder, '/');

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

/* How to read each limit: in the unified hierarchy, and in that of its controller in version 1. */
static const struct {
	const char *controller;
	const char *old_folder; /* of its version 1 hierarchy */
	int64_t (*read)(const char *folder);
	int64_t (*read_old)(const char *folder);
} limits[] = {
	[CONTROL_GROUP_MEMORY] = {"memory", "/memory", read_memory, read_old_memory},
	[CONTROL_GROUP_PROCESSES] = {"pids", "/pids", read_processes, read_processes},
	[CONTROL_GROUP_PROCESSORS] = {"cpu", "/cpu", read_processors, read_old_processors},
};

/* One line, "ID:CONTROLLERS:FOLDER"; the unified hierarchy has no controllers in it. */
static void read_control_group_line(const char *root, char *line, enum control_group_limit limit,
				    int64_t *least)
{
	strsep(&line, ":");
	const char *controllers = strsep(&line, ":"), *group = line;
	char *old_root CLEANUP(mem_free_text) = mem_format("%s%s", root, limits[limit].old_folder);

	if (!controllers || !group)
		return;
	if (!*controllers)
		read_upwards(root, group, limits[limit].read, least);
	else if (has_word(controllers, limits[limit].controller))
		read_upwards(old_root, group, limits[limit].read_old, least);
}

int64_t control_group_read_at(const char *root, const char *groups, enum control_group_limit limit)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(groups);
	char *rest = copy;
	int64_t least = -1;

	for (char *line; (line = strsep(&rest, "\n"));)
		read_control_group_line(root, line, limit, &least);
	return least;
}

int64_t control_group_read(enum control_group_limit limit)
{
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");

	return control_group_read_at("/sys/fs/cgroup", groups ? groups : "", limit);
}
