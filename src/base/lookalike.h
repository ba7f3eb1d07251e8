/* Characters that get into a file by accident and are invisible or look like others: web pages,
 * word processors and input methods insert them instead of a space, a quote or nothing. Names as in
 * the Unicode Standard. */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* At the beginning of a text it only marks UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct lookalike {
	const char *bytes; /* UTF-8 */
	const char *name; /* "no-break space" */
	int code_point;
	bool is_quote; /* visible, but no quote for programs; all others are invisible */
};

/* The lookalike at the front of the text; NULL: none. */
const struct lookalike *lookalike_at(const char *bytes, size_t len);

/* The first one in the text, and its offset; NULL: none. */
const struct lookalike *lookalike_find(const char *bytes, size_t len, size_t *ret_offset);

/* Appends the text with "<U+200B>" for each invisible one. */
void lookalike_add_visible(struct text *text, const char *bytes, size_t len);
