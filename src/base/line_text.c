#include "base/line_text.h"

#define ESCAPE 0x1b
#define BELL 0x07
#define BACKSPACE 0x08
#define DELETE 0x7f

const char *line_text_last_state(const char *bytes, size_t *len)
{
	size_t end = *len;

	while (end > 0 && bytes[end - 1] == '\r')
		end--;
	const char *last = end > 0 ? memrchr(bytes, '\r', end) : NULL;
	const char *begin = last ? last + 1 : bytes;

	*len = end - (size_t) (begin - bytes);
	return begin;
}

static bool is_tail_byte(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t line_text_whole_characters(const char *bytes, size_t len)
{
	size_t begin = len;

	while (begin > 0 && len - begin < 3 && is_tail_byte((unsigned char) bytes[begin - 1]))
		begin--;
	if (begin <= 1)
		return len;
	/* Of the character that begins with this byte; 1 also for what begins none. */
	unsigned char first = (unsigned char) bytes[begin - 1];
	size_t size = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	return size > len - begin + 1 ? begin - 1 : len;
}

/* The end of a sequence: bytes up to `last`, then one of final..0x7e (ECMA-48, 5.4). */
static size_t sequence_size(const unsigned char *bytes, size_t len, size_t at, unsigned char last,
			    unsigned char final)
{
	while (at < len && bytes[at] >= 0x20 && bytes[at] <= last)
		at++;
	return at < len && bytes[at] >= final && bytes[at] <= 0x7e ? at + 1 : at;
}

/* Size of a control string ("ESC ]", "ESC P" …): up to BEL or "ESC \". */
static size_t control_string_size(const unsigned char *bytes, size_t len)
{
	for (size_t at = 2; at < len; at++) {
		if (bytes[at] == BELL)
			return at + 1;
		if (bytes[at] == ESCAPE)
			return at + 1 < len && bytes[at + 1] == '\\' ? at + 2 : at;
	}
	return len;
}

static size_t escape_size(const unsigned char *bytes, size_t len)
{
	if (len < 2)
		return 1;
	if (bytes[1] == '[')
		return sequence_size(bytes, len, 2, 0x3f, 0x40);
	if (strchr("]PX^_", bytes[1]) && bytes[1] != '\0')
		return control_string_size(bytes, len);
	return sequence_size(bytes, len, 1, 0x2f, 0x30);
}

/* "ESC [ digits, semicolons and colons m" only selects colors. */
static bool is_color(const unsigned char *sequence, size_t size)
{
	if (size < 3 || sequence[1] != '[' || sequence[size - 1] != 'm')
		return false;
	for (size_t i = 2; i + 1 < size; i++)
		if (sequence[i] < '0' || sequence[i] > ';')
			return false;
	return true;
}

static void remove_last_character(struct text *text, size_t begin)
{
	size_t at = text->len;

	while (at > begin && is_tail_byte((unsigned char) text->bytes[at - 1]))
		at--;
	if (at > begin)
		text_shorten(text, at - 1);
}

/* Appends the character at the front, or a replacement for a control character outside ASCII.
 * Returns its number of bytes. */
static size_t add_character(struct text *text, const unsigned char *bytes, size_t len,
			    const char *upper_control)
{
	size_t size = text_utf8_length((const char *) bytes, len);
	bool is_upper_control = size == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0;

	if (size == 0)
		text_add(text, "\xef\xbf\xbd");
	else if (is_upper_control)
		text_add(text, upper_control);
	else
		text_add_bytes(text, bytes, size);
	return size ? size : 1;
}

static size_t plain_size(const unsigned char *bytes, size_t len)
{
	size_t size = 0;

	while (size < len && bytes[size] >= 0x20 && bytes[size] < DELETE)
		size++;
	return size;
}

static bool is_blank_byte(unsigned char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Appends the text without control characters except those of `kept`. */
static void add_quiet(struct text *text, const unsigned char *bytes, size_t len, const char *kept)
{
	for (size_t at = 0; at < len;) {
		size_t size = plain_size(bytes + at, len - at);
		bool is_control = size == 0 && (bytes[at] < 0x20 || bytes[at] == DELETE);

		if (size > 0)
			text_add_bytes(text, (const char *) bytes + at, size);
		else if (is_control && bytes[at] && strchr(kept, bytes[at]))
			text_add_char(text, (char) bytes[at]);
		else if (is_control)
			text_add_char(text, is_blank_byte(bytes[at]) ? ' ' : '?');
		else
			size = add_character(text, bytes + at, len - at, "?");
		at += size ? size : 1;
	}
}

void line_text_add_sentence(struct text *text, const char *sentence, size_t len)
{
	const unsigned char *bytes = (const unsigned char *) sentence;
	struct text quiet CLEANUP(text_done) = {0};

	while (len > 0 && is_blank_byte(bytes[len - 1]))
		len--;
	add_quiet(&quiet, bytes, len, "");
	lookalike_add_visible(text, text_of(&quiet), quiet.len);
}

void line_text_add_lines(struct text *text, const char *lines, size_t len)
{
	add_quiet(text, (const unsigned char *) lines, len, "\n\t");
}

static void add_shown(struct text *text, const char *line, size_t len, bool keeps_colors)
{
	const unsigned char *bytes = (const unsigned char *) line;
	size_t begin = text->len; /* earlier text is not erased: a color, other text */
	bool is_colored = false;

	for (size_t at = 0; at < len;) {
		size_t size = plain_size(bytes + at, len - at);

		if (size > 0) {
			text_add_bytes(text, bytes + at, size);
		} else if (bytes[at] == ESCAPE) {
			size = escape_size(bytes + at, len - at);
			if (keeps_colors && is_color(bytes + at, size)) {
				text_add_bytes(text, bytes + at, size);
				begin = text->len;
				is_colored = true;
			}
		} else if (bytes[at] < 0x20 || bytes[at] == DELETE) {
			if (bytes[at] == '\t')
				text_add_char(text, '\t');
			else if (bytes[at] == BACKSPACE)
				remove_last_character(text, begin);
			size = 1;
		} else {
			size = add_character(text, bytes + at, len - at, "");
		}
		at += size;
	}
	if (is_colored)
		text_add(text, "\x1b[0m");
}

void line_text_add_safe(struct text *text, const char *line, size_t len)
{
	add_shown(text, line, len, true);
}

void line_text_add_plain(struct text *text, const char *line, size_t len)
{
	add_shown(text, line, len, false);
}

/* Widths. */

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

/* Of a UTF-8 character. */
static size_t columns_of(const unsigned char *bytes, size_t size)
{
	static const unsigned char payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = bytes[0] & payload[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3f);
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
		*column += size ? columns_of(bytes, size) : 1;
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
