#include "base/line_width.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ESCAPE 0x1b
#define TAB_STOP 8

/* Characters that are not one column wide: the larger blocks of Unicode's EastAsianWidth.txt (W and
 * F), emoji, and marks that are drawn on the character before. */
static const struct block {
	uint32_t first, last;
	size_t columns;
} blocks[] = {
	{0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
	{0x231a, 0x231b, 2},   {0x23e9, 0x23ec, 2},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},
	{0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},
	{0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
	{0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static uint32_t code_point(const unsigned char *bytes, size_t size)
{
	static const unsigned char payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = bytes[0] & payload[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	return code;
}

static size_t columns_of(uint32_t code)
{
	for (size_t i = 0; i < ARRAY_LEN(blocks) && code >= blocks[i].first; i++)
		if (code <= blocks[i].last)
			return blocks[i].columns;
	return 1;
}

/* The size of the character at the front, or of a color, which takes no column. *column is its
 * column, and becomes that of the next one. */
static size_t advance_line_column(const unsigned char *bytes, size_t len, size_t *column)
{
	if (bytes[0] == ESCAPE) {
		const unsigned char *end = memchr(bytes, 'm', len);

		return end ? (size_t) (end - bytes) + 1 : len;
	}
	size_t size = text_utf8_length((const char *) bytes, len);

	if (bytes[0] == '\t')
		*column += TAB_STOP - *column % TAB_STOP;
	else
		*column += size ? columns_of(code_point(bytes, size)) : 1;
	return size ? size : 1;
}

size_t line_width(const char *line, size_t len)
{
	size_t column = 0;

	for (size_t at = 0; at < len;)
		at += advance_line_column((const unsigned char *) line + at, len - at, &column);
	return column;
}

size_t line_rows(const char *line, size_t len, size_t columns)
{
	size_t width = line_width(line, len);

	return width > columns ? (width + columns - 1) / columns : 1;
}

/* The length of the part that fits into the columns; reports whether it contains a color. */
static size_t fitting(const char *line, size_t len, size_t columns, bool *ret_has_color)
{
	size_t at = 0, column = 0;

	*ret_has_color = false;
	while (at < len) {
		size_t size =
			advance_line_column((const unsigned char *) line + at, len - at, &column);

		if (column > columns)
			break;
		*ret_has_color |= line[at] == ESCAPE;
		at += size;
	}
	return at;
}

void line_add_cut(struct text *text, const char *line, size_t len, size_t columns)
{
	bool has_color;
	bool fits = line_width(line, len) <= columns;
	size_t shown = fits ? len : fitting(line, len, columns - 1, &has_color);

	text_add_bytes(text, line, shown);
	if (fits)
		return;
	text_add(text, "…");
	if (has_color)
		text_add(text, "\x1b[0m");
}
