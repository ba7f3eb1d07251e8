/* What every file has: bool, size_t and the fixed integers, names for the four GNU attributes in
 * use, and the macro that transfers ownership. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls `function(&variable)` when the variable leaves its scope (gcc and clang: cleanup). */
#define CLEANUP(function) __attribute__((cleanup(function)))
/* Checks the arguments like printf's: the format is parameter `f`, its values begin at `v`. */
#define PRINTF_LIKE(f, v) __attribute__((format(printf, f, v)))
#define MUST_USE __attribute__((warn_unused_result))
#define NORETURN __attribute__((noreturn))

/* Transfers a pointer: yields it and sets the variable to NULL, whose cleanup frees nothing. */
#define TAKE(pointer)                                                                              \
	__extension__({                                                                            \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))
