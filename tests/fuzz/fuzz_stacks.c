/* Any bytes as a file of stacks, and as what py-spy prints: what is shown of them is text that a
 * terminal does not obey. */
#include "fuzz.h"

#include "base/mem.h"
#include "status/stacks.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *all CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct stacks stacks CLEANUP(stacks_done) = {0};
	struct text text CLEANUP(text_done) = {0};
	struct text spied CLEANUP(text_done) = {0};
	size_t count;

	stacks_read(&stacks, all, "worker", 0, arena);
	stacks_read(&stacks, all, "worker", 1, arena);
	spied_stacks_add(&spied, all);
	stacks_read(&stacks, text_of(&spied), "worker", 2, arena);
	stacks_describe(&stacks, true, &text);
	const char **lines = stacks_summarize(&stacks, 8, arena, &count);

	if (strpbrk(text_of(&text), "\x1b\r\a\b") || count > 9)
		abort();
	for (size_t i = 0; i < count; i++)
		if (strpbrk(lines[i], "\x1b\r\a\b\n"))
			abort();
	return 0;
}
