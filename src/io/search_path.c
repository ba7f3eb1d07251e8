#include "io/search_path.h"

#include <string.h>

const char *search_path_next(const char **rest, size_t *ret_len)
{
	if (!*rest)
		return NULL;
	const char *folder = *rest + strspn(*rest, ":");

	*ret_len = strcspn(folder, ":");
	*rest = folder + *ret_len;
	return *ret_len ? folder : NULL;
}

bool search_path_has_empty(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[0] == ':' || path[len - 1] == ':' || strstr(path, "::");
}
