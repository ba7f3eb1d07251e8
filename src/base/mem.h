/* Allocation that never returns NULL, and arenas that are freed as a whole. */
#pragma once

#include "base/own.h"

#include <stdarg.h>
#include <stdlib.h>

/* Zeroed memory, never NULL: without memory the program ends with EXIT_BUG (base/exit_code.h).
 * State is on disk before muster acts. */
void *mem_new(size_t size) MUST_USE;
/* Zeroed array; an overflow of the product counts as lack of memory. */
void *mem_new_array(size_t count, size_t size) MUST_USE;
/* Like realloc, for count * size bytes; new memory is not zeroed. */
void *mem_resize(void *memory, size_t count, size_t size) MUST_USE;
char *mem_copy_text(const char *text) MUST_USE; /* NULL gives NULL */
char *mem_copy_bytes(const void *bytes, size_t len) MUST_USE; /* followed by a NUL byte */
char *mem_format(const char *format, ...) PRINTF_LIKE(1, 2) MUST_USE;
char *mem_format_list(const char *format, va_list values) PRINTF_LIKE(1, 0) MUST_USE;

/* Ends the program like these functions, if a library reports lack of memory. */
NORETURN void mem_abort(void);

/* Cleanup functions: `char *name CLEANUP(mem_free_text) = …`. */
void mem_free_text(char **text);
/* Overwrites the text before freeing it, and sets the pointer to NULL. NULL is fine. */
void mem_free_secret(char **text);
void mem_free_any(void *pointer_to_pointer);

/* Grows `*array` (elements of `size` bytes) so that one more fits after `count` elements. It
 * doubles; the caller keeps `*capacity`, which begins at 0. */
void mem_grow(void *pointer_to_array, size_t *capacity, size_t count, size_t size);

/* Everything taken from an arena lives until arena_free. */
struct arena;
struct arena *arena_new(void) MUST_USE;
void arena_free(struct arena *arena); /* NULL is fine */
void arena_cleanup(struct arena **arena);
/* The same, but overwrites all contents first. */
void arena_free_secret(struct arena *arena);
void *arena_take(struct arena *arena, size_t size) MUST_USE; /* zeroed, aligned for any type */
void *arena_take_array(struct arena *arena, size_t count, size_t size) MUST_USE;
/* The array to which one more element is added, after `count`: a larger copy if it is full. It
 * begins as NULL, and grows in this way alone. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t size) MUST_USE;
char *arena_copy_text(struct arena *arena, const char *text) MUST_USE; /* NULL gives NULL */
char *arena_format(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3) MUST_USE;
