/* Any bytes as the last lines of a program: what is found in them is part of one line, without
 * anything that a terminal would obey. */
#include "fuzz.h"

#include "base/mem.h"
#include "status/exception.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 100

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *all CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *lines[LINES_MAX];
	msec times[LINES_MAX];
	struct printed printed = {.lines = lines, .times = times};

	for (char *rest = all; rest && printed.count < LINES_MAX; printed.count++) {
		lines[printed.count] = strsep(&rest, "\n");
		times[printed.count] = len % 3 ? (msec) printed.count * (msec) len : MSEC_UNSET;
	}
	const char *found = exception_find(&printed, arena);

	if (found && (!*found || strlen(found) > 3 * len || strpbrk(found, "\x1b\n\r\a")))
		abort();
	return 0;
}
