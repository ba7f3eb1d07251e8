/* Any bytes as the last lines of a program: what is found in them is part of one line, without
 * anything that a terminal would obey. */
#include "fuzz.h"

#include "base/mem.h"
#include "core/exception.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 100

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *all CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *lines[LINES_MAX];
	size_t n_lines = 0;

	for (char *rest = all; rest && n_lines < LINES_MAX;)
		lines[n_lines++] = strsep(&rest, "\n");
	const char *found = exception_find(lines, n_lines, arena);

	if (found && (!*found || strlen(found) > 3 * len || strpbrk(found, "\x1b\n\r\a")))
		abort();
	return 0;
}
