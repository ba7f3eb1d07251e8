#include "status/advice.h"

#include <stdbool.h>
#include <string.h>

static bool has_words(const char *line, const char *words)
{
	for (;;) {
		size_t len = strcspn(words, "*");
		const char *found = memmem(line, strlen(line), words, len);

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
