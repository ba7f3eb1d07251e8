/* Names for the four GNU attributes we rely on, and the macro that hands ownership over. */
#pragma once

#include <stddef.h>

/* Calls `function(&variable)` when the variable leaves its scope (gcc and clang: cleanup). */
#define CLEANUP(function) __attribute__((cleanup(function)))
/* The arguments are checked as printf's are: format is parameter `f`, its values begin at `v`. */
#define PRINTF_LIKE(f, v) __attribute__((format(printf, f, v)))
#define MUST_USE __attribute__((warn_unused_result))
#define NORETURN __attribute__((noreturn))

/* Hands a pointer over: yields it and leaves NULL behind, so that its cleanup releases nothing. */
#define TAKE(pointer)                                                                              \
	__extension__({                                                                            \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))
