#include "io/own_environment.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_changed(const char *entry, const char *const *changes)
{
	size_t len = strcspn(entry, "=");

	for (; *changes; changes++)
		if (strcspn(*changes, "=") == len && strncmp(*changes, entry, len) == 0)
			return true;
	return false;
}

char **own_environment_with(const char *const *changes)
{
	size_t capacity = 0, count = 0;
	char **list = NULL;

	for (char **entry = environ; *entry; entry++) {
		if (is_changed(*entry, changes))
			continue;
		mem_grow(&list, &capacity, count, sizeof(*list));
		list[count++] = *entry;
	}
	for (; *changes; changes++) {
		if (!strchr(*changes, '='))
			continue;
		mem_grow(&list, &capacity, count, sizeof(*list));
		list[count++] = (char *) *changes;
	}
	mem_grow(&list, &capacity, count, sizeof(*list));
	list[count] = NULL;
	return list;
}
