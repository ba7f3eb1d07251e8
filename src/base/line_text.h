/* Makes a line of a program's output printable, and measures it: progress bars in their last state,
 * and no sequences that move a terminal's cursor or ring its bell. Finds invisible characters. */
#pragma once

#include "base/text.h"

/* The visible part of a line with carriage returns: after the last one that has text after it
 * ("10%\r20%\r" is "20%"). Points into the line; *len is the line's length, then the part's. Keras
 * and tqdm draw each step of a bar after a carriage return. */
const char *line_text_last_state(const char *bytes, size_t *len);

/* The length without a UTF-8 character that is cut off at the end. */
size_t line_text_whole_characters(const char *bytes, size_t len);

/* Appends the line in a form that is safe for a terminal. Colors (SGR sequences) stay and are reset
 * at the end. Other escape sequences and control characters are removed, a backspace removes the
 * character before it, and invalid UTF-8 becomes U+FFFD. */
void line_text_add_safe(struct text *text, const char *line, size_t len);

/* The same without colors. */
void line_text_add_plain(struct text *text, const char *line, size_t len);

/* Appends a sentence that may quote another program or server. Line ends and tabs become spaces,
 * with none at the end. Other control characters, including those of colors, become question marks;
 * invalid UTF-8 becomes U+FFFD, and an invisible character "<U+202E>". */
void line_text_add_sentence(struct text *text, const char *sentence, size_t len);

/* Appends muster's own lines with such quotes: as a sentence, but line ends and tabs stay. */
void line_text_add_lines(struct text *text, const char *lines, size_t len);

/* The columns that a line takes on a terminal. Lines must be safe: they contain only text, colors
 * and tabs. Wide characters count two, combining ones zero. Terminals differ in a few. */
size_t line_width(const char *line, size_t len);

/* Number of rows on a terminal that is `columns` (1 or more) wide; an empty line takes one. */
size_t line_rows(const char *line, size_t len, size_t columns);

/* Appends the line, cut to `columns` (1 or more), with "…" in the last one. */
void line_add_cut(struct text *text, const char *line, size_t len, size_t columns);

/* Characters that get into a file by accident and are invisible or look like others: web pages,
 * word processors and input methods insert them instead of a space, a quote or nothing. Names as in
 * the Unicode Standard. */

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
