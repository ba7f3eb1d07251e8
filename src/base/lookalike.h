/* Characters that get into a file by accident, and that its writer does not see or takes for
 * others: what web pages, word processors and input methods put in the place of a space, a quote or
 * nothing. Names as in the Unicode Standard. */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* At the beginning of a text it says only that the text is UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct lookalike {
	const char *bytes; /* UTF-8 */
	const char *name; /* "no-break space" */
	int code_point;
	bool is_quote; /* it is seen, but is no quote to a program; all others are not seen */
};

/* The one at the front of the text; NULL when there is none. */
const struct lookalike *lookalike_at(const char *bytes, size_t len);

/* The first one in the text, and its offset; NULL when there is none. */
const struct lookalike *lookalike_find(const char *bytes, size_t len, size_t *ret_offset);

/* Adds the text with "<U+200B>" for each that is not seen. */
void lookalike_add_visible(struct text *text, const char *bytes, size_t len);
