/* What to do about errors that programs print, from advice.txt. Pure. */
#pragma once

#include <stddef.h>

struct advice_row {
	const char *words; /* in one line of output; '*': any text between them */
	const char *seen_with;
	const char *advice;
};

/* Made from advice.txt by the build. */
extern const struct advice_row advice_rows[];
extern const size_t advice_row_count;

/* The advice of the first row whose words are in the line; NULL: none. */
const char *advice_find(const char *line);
