#include "base/mem.h"

#include "base/exit_code.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Blocks of an arena grow: many small arenas cost little, and a large one has few blocks. */
#define ARENA_FIRST_BLOCK 512
#define ARENA_LARGEST_BLOCK 8192

NORETURN void mem_abort(void)
{
	static const char sentence[] = "muster: out of memory\n";
	ssize_t written = write(STDERR_FILENO, sentence, sizeof(sentence) - 1);

	(void) written;
	_exit(EXIT_BUG);
}

static size_t product_of(size_t count, size_t size)
{
	size_t product;

	if (__builtin_mul_overflow(count, size, &product))
		mem_abort();
	return product ? product : 1;
}

void *mem_new(size_t size)
{
	return mem_new_array(1, size);
}

void *mem_new_array(size_t count, size_t size)
{
	void *memory = calloc(1, product_of(count, size));

	if (!memory)
		mem_abort();
	return memory;
}

void *mem_resize(void *memory, size_t count, size_t size)
{
	void *resized = realloc(memory, product_of(count, size));

	if (!resized)
		mem_abort();
	return resized;
}

char *mem_copy_text(const char *text)
{
	return text ? mem_copy_bytes(text, strlen(text)) : NULL;
}

char *mem_copy_bytes(const void *bytes, size_t len)
{
	char *copy = mem_new(len + 1);

	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

PRINTF_LIKE(1, 0)
static size_t length_of_format(const char *format, va_list values)
{
	va_list again;

	va_copy(again, values);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0)
		mem_abort();
	return (size_t) len;
}

char *mem_format_list(const char *format, va_list values)
{
	size_t len = length_of_format(format, values);
	char *text = mem_new(len + 1);

	vsnprintf(text, len + 1, format, values);
	return text;
}

char *mem_format(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *text = mem_format_list(format, values);
	va_end(values);
	return text;
}

void mem_free_text(char **text)
{
	free(*text);
}

void mem_free_secret(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void mem_free_any(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}

void mem_grow(void *pointer_to_array, size_t *capacity, size_t count, size_t size)
{
	if (count < *capacity)
		return;
	void *array;
	size_t wanted = *capacity ? product_of(*capacity, 2) : 8;

	memcpy(&array, pointer_to_array, sizeof(array));
	array = mem_resize(array, wanted, size);
	memcpy(pointer_to_array, &array, sizeof(array));
	*capacity = wanted;
}

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	max_align_t bytes[];
};

struct arena {
	struct arena_block *blocks;
};

struct arena *arena_new(void)
{
	return mem_new(sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct arena_block *block = arena->blocks; block;) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	free(arena);
}

void arena_free_secret(struct arena *arena)
{
	for (struct arena_block *block = arena ? arena->blocks : NULL; block; block = block->next)
		explicit_bzero(block->bytes, block->used);
	arena_free(arena);
}

void arena_cleanup(struct arena **arena)
{
	arena_free(*arena);
}

static struct arena_block *block_with_room(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;

	if (block && block->size - block->used >= size)
		return block;
	size_t room = block ? block->size * 2 : ARENA_FIRST_BLOCK;

	if (room > ARENA_LARGEST_BLOCK)
		room = ARENA_LARGEST_BLOCK;
	if (room < size)
		room = size;
	block = mem_new(sizeof(*block) + room);
	block->size = room;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_take(struct arena *arena, size_t size)
{
	const size_t alignment = _Alignof(max_align_t);

	if (size > SIZE_MAX / 2)
		mem_abort();
	size_t rounded = (size + alignment - 1) / alignment * alignment;
	struct arena_block *block = block_with_room(arena, rounded);
	void *memory = (char *) block->bytes + block->used;

	block->used += rounded;
	return memory;
}

void *arena_take_array(struct arena *arena, size_t count, size_t size)
{
	return arena_take(arena, product_of(count, size));
}

/* It doubles whenever its count is a power of two. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	void *larger = arena_take_array(arena, count ? 2 * count : 1, size);

	return array ? memcpy(larger, array, count * size) : larger;
}

char *arena_copy_text(struct arena *arena, const char *text)
{
	if (!text)
		return NULL;
	size_t len = strlen(text);
	char *copy = arena_take(arena, len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	size_t len = length_of_format(format, values);
	char *text = arena_take(arena, len + 1);
	vsnprintf(text, len + 1, format, values);
	va_end(values);
	return text;
}
