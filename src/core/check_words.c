#include "core/check_words.h"

#include "base/text.h"
#include "core/line_text.h"

#include <stdbool.h>
#include <string.h>

/* Longer words are cut. */
#define WORDS_MOST 600

/* Takes colours and line feeds out of what is safe otherwise. */
static void make_plain(struct text *text)
{
	size_t len = 0;
	bool is_escape = false;

	for (size_t i = 0; i < text->len; i++) {
		char byte = text->bytes[i];

		if (byte == '\x1b')
			is_escape = true;
		else if (!is_escape)
			text->bytes[len++] = byte == '\n' || byte == '\t' ? ' ' : byte;
		else if (byte == 'm')
			is_escape = false;
	}
	if (text->bytes)
		text->bytes[len] = '\0';
	text->len = len;
}

const char *check_copy_words(struct check *check, const char *words)
{
	struct text text CLEANUP(text_done) = {0};
	size_t len = words ? strlen(words) : 0;

	if (!words)
		return NULL;
	line_text_add_safe(&text, words,
			   len < WORDS_MOST ? len : line_text_whole_characters(words, WORDS_MOST));
	make_plain(&text);
	return arena_copy_text(check->arena, text_of(&text));
}
