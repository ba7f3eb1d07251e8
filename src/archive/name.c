#include "archive/name.h"

#include <stddef.h>
#include <string.h>

/* The next component of a path, without slashes; false at the end. */
static bool next_path_component(const char **path, const char **ret_step, size_t *ret_len)
{
	*path += strspn(*path, "/");
	*ret_step = *path;
	*ret_len = strcspn(*path, "/");
	*path += *ret_len;
	return *ret_len != 0;
}

static bool is_step(const char *step, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(step, word, len);
}

bool archive_name_is_inside(const char *name)
{
	const char *step;
	size_t len;

	if (!name || !*name || *name == '/')
		return false;
	while (next_path_component(&name, &step, &len))
		if (is_step(step, len, ".."))
			return false;
	return true;
}

/* Number of directories on the way to the named file, including itself. */
static size_t depth_of(const char *name)
{
	size_t depth = 0, len;
	const char *step;

	while (next_path_component(&name, &step, &len))
		depth += !is_step(step, len, ".");
	return depth;
}

bool archive_name_is_folder_itself(const char *name)
{
	return !depth_of(name);
}

bool archive_link_is_inside(const char *name, const char *target)
{
	size_t depth = depth_of(name), len;
	bool has_started = false;
	const char *step;

	if (!target || !*target || *target == '/')
		return false;
	while (next_path_component(&target, &step, &len)) {
		if (is_step(step, len, ".."))
			depth--;
		else if (!is_step(step, len, "."))
			has_started = true;
		if (is_step(step, len, "..") && (has_started || !depth))
			return false;
	}
	return true;
}
