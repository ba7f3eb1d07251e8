#include "base/base64.h"

#include <stdint.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes as four letters. */
static void add_group(struct text *text, const unsigned char *bytes, size_t len)
{
	uint32_t group = (uint32_t) bytes[0] << 16;

	if (len > 1)
		group |= (uint32_t) bytes[1] << 8;
	if (len > 2)
		group |= bytes[2];
	text_add_char(text, letters[group >> 18]);
	text_add_char(text, letters[group >> 12 & 63]);
	text_add_char(text, len > 1 ? letters[group >> 6 & 63] : '=');
	text_add_char(text, len > 2 ? letters[group & 63] : '=');
}

void base64_add(struct text *text, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 3)
		add_group(text, (const unsigned char *) bytes + i, len - i);
}
