#include "status/advice.h"

#include <stdbool.h>
#include <string.h>

/* The first occurrence of the first `len` bytes of `part`. */
static const char *find_part(const char *line, const char *part, size_t len)
{
	for (; *line; line++)
		if (strncmp(line, part, len) == 0)
			return line;
	return NULL;
}

static bool has_words(const char *line, const char *words)
{
	for (;;) {
		size_t len = strcspn(words, "*");
		const char *found = find_part(line, words, len);

		if (!found)
			return false;
		if (!words[len])
			return true;
		line = found + len;
		words += len + 1;
	}
}

const char *advice_find(const char *line)
{
	for (size_t i = 0; i < advice_row_count; i++)
		if (has_words(line, advice_rows[i].words))
			return advice_rows[i].advice;
	return NULL;
}
