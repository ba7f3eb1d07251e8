#include "base/lookalike.h"

#include <string.h>

/* U+200C and U+200D are excluded: Persian, Hindi and emoji use them. */
static const struct lookalike lookalikes[] = {
	{"\xc2\xa0", "no-break space", 0x00a0, false},
	{"\xc2\xad", "soft hyphen", 0x00ad, false},
	{"\xe2\x80\x82", "en space", 0x2002, false},
	{"\xe2\x80\x83", "em space", 0x2003, false},
	{"\xe2\x80\x87", "figure space", 0x2007, false},
	{"\xe2\x80\x89", "thin space", 0x2009, false},
	{"\xe2\x80\x8a", "hair space", 0x200a, false},
	{"\xe2\x80\x8b", "zero width space", 0x200b, false},
	{"\xe2\x80\x8e", "left-to-right mark", 0x200e, false},
	{"\xe2\x80\x8f", "right-to-left mark", 0x200f, false},
	{"\xe2\x80\xa8", "line separator", 0x2028, false},
	{"\xe2\x80\xa9", "paragraph separator", 0x2029, false},
	{"\xe2\x80\xaa", "left-to-right embedding", 0x202a, false},
	{"\xe2\x80\xab", "right-to-left embedding", 0x202b, false},
	{"\xe2\x80\xac", "pop directional formatting", 0x202c, false},
	{"\xe2\x80\xad", "left-to-right override", 0x202d, false},
	{"\xe2\x80\xae", "right-to-left override", 0x202e, false},
	{"\xe2\x80\xaf", "narrow no-break space", 0x202f, false},
	{"\xe2\x81\x9f", "medium mathematical space", 0x205f, false},
	{"\xe2\x81\xa0", "word joiner", 0x2060, false},
	{"\xe2\x81\xa6", "left-to-right isolate", 0x2066, false},
	{"\xe2\x81\xa7", "right-to-left isolate", 0x2067, false},
	{"\xe2\x81\xa8", "first strong isolate", 0x2068, false},
	{"\xe2\x81\xa9", "pop directional isolate", 0x2069, false},
	{"\xe3\x80\x80", "ideographic space", 0x3000, false},
	{BYTE_ORDER_MARK, "byte order mark", 0xfeff, false},
	{"\xe2\x80\x98", "left single quotation mark", 0x2018, true},
	{"\xe2\x80\x99", "right single quotation mark", 0x2019, true},
	{"\xe2\x80\x9a", "single low-9 quotation mark", 0x201a, true},
	{"\xe2\x80\x9c", "left double quotation mark", 0x201c, true},
	{"\xe2\x80\x9d", "right double quotation mark", 0x201d, true},
	{"\xe2\x80\x9e", "double low-9 quotation mark", 0x201e, true},
};

const struct lookalike *lookalike_at(const char *bytes, size_t len)
{
	if (len < 2 || (unsigned char) bytes[0] < 0xc2)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(lookalikes); i++) {
		size_t size = strlen(lookalikes[i].bytes);

		if (size <= len && memcmp(bytes, lookalikes[i].bytes, size) == 0)
			return &lookalikes[i];
	}
	return NULL;
}

const struct lookalike *lookalike_find(const char *bytes, size_t len, size_t *ret_offset)
{
	for (size_t at = 0; at < len; at++) {
		const struct lookalike *found = lookalike_at(bytes + at, len - at);

		if (!found)
			continue;
		*ret_offset = at;
		return found;
	}
	return NULL;
}

void lookalike_add_visible(struct text *text, const char *bytes, size_t len)
{
	while (len > 0) {
		size_t offset = len;
		const struct lookalike *found = lookalike_find(bytes, len, &offset);
		size_t size = found ? strlen(found->bytes) : 0;

		text_add_bytes(text, bytes, offset);
		if (found && found->is_quote)
			text_add(text, found->bytes);
		else if (found)
			text_addf(text, "<U+%04X>", (unsigned) found->code_point);
		bytes += offset + size;
		len -= offset + size;
	}
}
