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
	struct text text CLEANUP(text_done) = {0};
	const char *lines[LINES_MAX];
	size_t n_lines = 0;

	for (char *rest = all; rest && n_lines < LINES_MAX;)
		lines[n_lines++] = strsep(&rest, "\n");
	bool is_found = exception_add(lines, n_lines, &text);

	if (is_found != (text.len > 0) || text.len > 3 * len ||
	    strpbrk(text_of(&text), "\x1b\n\r\a"))
		abort();
	return 0;
}
