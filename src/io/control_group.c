/* Reads limits and use of a group and of each one above it: the tightest counts.
 *
 * Unified hierarchy (v2): memory.max, memory.current, pids.max, pids.current. Version 1 has a
 * hierarchy for each controller, and other names for memory. Where a container sees the path of its
 * host, which is not mounted in it, the folders above lead to what is. */
#include "io/control_group.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

/* Version 1 has a huge number, cut to whole pages, where there is no limit. */
#define NO_LIMIT_ABOVE ((int64_t) 1 << 60)

/* How a version calls what we read. */
struct names {
	const char *limit;
	const char *use;
	const char *file_cache; /* of memory.stat: used, and given back when it is needed */
};

static const struct names memory_names = {"memory.max", "memory.current", "\ninactive_file "};
static const struct names old_memory_names = {"memory.limit_in_bytes", "memory.usage_in_bytes",
					      "\ntotal_inactive_file "};
static const struct names process_names = {"pids.max", "pids.current", NULL};

/* The text of a file in a folder; NULL when it cannot be read. Caller frees. */
static char *read_file(const char *folder, const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);

	return file_read_text(path);
}

/* A number that a file has on its only line; -1 for "max" and where there is no such file. */
static int64_t read_number(const char *folder, const char *name)
{
	char *text CLEANUP(mem_free_text) = read_file(folder, name);
	int64_t number;

	if (!text)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	return text_read_int(text, 0, NO_LIMIT_ABOVE, &number, NULL) ? -1 : number;
}

static int64_t read_file_cache(const char *folder, const char *title)
{
	char *text CLEANUP(mem_free_text) = title ? read_file(folder, "memory.stat") : NULL;
	const char *line = text ? strstr(text, title) : NULL;

	return line ? strtoll(line + strlen(title), NULL, 10) : 0;
}

/* What one group leaves; -1: no limit. */
static int64_t read_room(const char *folder, const struct names *names)
{
	int64_t limit = read_number(folder, names->limit);
	int64_t use = read_number(folder, names->use);

	if (limit < 0 || use < 0)
		return -1;
	int64_t room = limit - use + read_file_cache(folder, names->file_cache);

	return room > 0 ? room : 0;
}

static void keep_least(int64_t *least, int64_t room)
{
	if (room >= 0 && (*least < 0 || room < *least))
		*least = room;
}

/* The group and all above it; `root` is where its hierarchy is mounted. */
static void read_upwards(const char *root, const char *group, const struct names *names,
			 int64_t *least)
{
	char *folder CLEANUP(mem_free_text) = mem_format("%s%s", root, group);

	while (strlen(folder) >= strlen(root)) {
		keep_least(least, read_room(folder, names));
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

/* One line, "ID:CONTROLLERS:FOLDER"; the unified hierarchy has no controllers there. */
static void read_line(const char *root, char *line, struct control_group_room *room)
{
	strsep(&line, ":");
	const char *controllers = strsep(&line, ":"), *group = line;

	if (!controllers || !group)
		return;
	if (!*controllers) {
		read_upwards(root, group, &memory_names, &room->memory);
		read_upwards(root, group, &process_names, &room->processes);
		return;
	}
	char *memory CLEANUP(mem_free_text) = mem_format("%s/memory", root);
	char *pids CLEANUP(mem_free_text) = mem_format("%s/pids", root);

	if (has_word(controllers, "memory"))
		read_upwards(memory, group, &old_memory_names, &room->memory);
	if (has_word(controllers, "pids"))
		read_upwards(pids, group, &process_names, &room->processes);
}

struct control_group_room control_group_read_at(const char *root, const char *groups)
{
	struct control_group_room room = {.memory = -1, .processes = -1};
	char *copy CLEANUP(mem_free_text) = mem_copy_text(groups);
	char *rest = copy;

	for (char *line; (line = strsep(&rest, "\n"));)
		read_line(root, line, &room);
	return room;
}

struct control_group_room control_group_read(void)
{
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");

	return control_group_read_at("/sys/fs/cgroup", groups ? groups : "");
}
