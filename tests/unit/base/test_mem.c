#include "unit.h"

#include "base/mem.h"

TEST(arena_gives_zeroed_memory_across_blocks)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t size = 1; size < 100000; size = size * 3 + 1) {
		unsigned char *bytes = arena_take(arena, size);

		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes[i], 0);
		memset(bytes, 0xff, size);
	}
}

TEST(formats_are_as_long_as_they_need_to_be)
{
	char *text CLEANUP(mem_free_text) = mem_format("%05000d", 7);

	assert_int_equal(strlen(text), 5000);
	assert_int_equal(text[4999], '7');
}

TEST(growing_keeps_what_is_there)
{
	int *numbers CLEANUP(mem_free_any) = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < 1000; i++) {
		mem_grow(&numbers, &capacity, i, sizeof(*numbers));
		numbers[i] = (int) i;
	}
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], (int) i);
}
