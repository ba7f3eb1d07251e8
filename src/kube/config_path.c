/* filepath.Clean and filepath.Join, as far as they concern absolute folders. */
#include "kube/config_path.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_folder(struct text *path)
{
	while (path->len > 0 && path->bytes[path->len - 1] != '/')
		path->len--;
	if (path->len > 0)
		path->len--;
	if (path->bytes)
		path->bytes[path->len] = '\0';
}

static void add_parts(struct text *path, const char *parts)
{
	while (*parts) {
		size_t len = strcspn(parts, "/");

		if (len == 2 && memcmp(parts, "..", 2) == 0) {
			leave_folder(path);
		} else if (len > 0 && !(len == 1 && *parts == '.')) {
			text_add_char(path, '/');
			text_add_bytes(path, parts, len);
		}
		parts += len;
		parts += *parts == '/';
	}
}

const char *kube_config_path(struct arena *arena, const char *folder, const char *path)
{
	struct text joined CLEANUP(text_done) = {0};

	if (*path == '/')
		return arena_copy_text(arena, path);
	add_parts(&joined, folder);
	add_parts(&joined, path);
	return arena_copy_text(arena, joined.len > 0 ? text_of(&joined) : "/");
}

char *kube_config_folder(const char *file)
{
	struct text folder CLEANUP(text_done) = {0};
	char *here CLEANUP(mem_free_text) = getcwd(NULL, 0);

	if (*file != '/')
		add_parts(&folder, here ? here : "/");
	add_parts(&folder, file);
	leave_folder(&folder);
	return mem_copy_text(folder.len > 0 ? text_of(&folder) : "/");
}
