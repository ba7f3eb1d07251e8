/* The counters, by kernel: memory.events (cgroup v2) and memory.oom_control (v1) count processes
 * killed in that group for any kind of shortage, /proc/vmstat counts for the machine. Each has a
 * line "oom_kill N". */
#include "io/oom.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER "oom_kill "

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

/* One line of /proc/self/cgroup, "ID:CONTROLLERS:FOLDER". The unified hierarchy has no controllers
 * in it (cgroups(7)). */
static bool read_counter_of_group(char *line, int64_t *ret_count)
{
	strsep(&line, ":");
	const char *controllers = strsep(&line, ":"), *folder = line;

	if (!controllers || !folder)
		return false;
	bool is_unified = *controllers == '\0';

	if (!is_unified && !text_equals(controllers, "memory"))
		return false;
	char *path CLEANUP(mem_free_text) =
		is_unified ? mem_format("/sys/fs/cgroup%s/memory.events", folder)
			   : mem_format("/sys/fs/cgroup/memory%s/memory.oom_control", folder);

	return read_counter(path, ret_count);
}

int64_t oom_kill_count(void)
{
	char *groups CLEANUP(mem_free_text) = file_read_text("/proc/self/cgroup");
	char *rest = groups, *line;
	int64_t count = 0;

	while ((line = strsep(&rest, "\n")))
		if (read_counter_of_group(line, &count))
			return count;
	read_counter("/proc/vmstat", &count);
	return count;
}
