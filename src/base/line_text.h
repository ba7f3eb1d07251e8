/* A line of a program's output as a person should see it: progress bars in their last state, and on
 * a terminal nothing that moves the cursor or rings the bell. */
#pragma once

#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* What stands in a line after its carriage returns: the part behind the last one that has anything
 * behind it ("10%\r20%\r" is "20%"). Points into the line; *len is the line's length, then the
 * part's. Keras and tqdm draw each step of a bar behind a carriage return. */
const char *line_text_last_state(const char *bytes, size_t *len);

/* The length without a UTF-8 character that is cut off at the end. */
size_t line_text_whole_characters(const char *bytes, size_t len);

/* Adds the line made safe for a terminal: colours (SGR sequences) stay and are reset at the end,
 * other escape sequences and control characters are left out, a backspace takes the character
 * before it away, and what is no UTF-8 becomes U+FFFD. */
void line_text_add_safe(struct text *text, const char *line, size_t len);

/* The same without colors. */
void line_text_add_plain(struct text *text, const char *line, size_t len);

/* Adds a sentence, in which may stand what somebody else said (a server, a program): line ends and
 * tabs are blanks, and none at its end; every other control character is a question mark, those of
 * colours too; what is no UTF-8 becomes U+FFFD. */
void line_text_add_sentence(struct text *text, const char *sentence, size_t len);

/* Adds lines of muster's own, in which the same may stand: as a sentence, but line ends and tabs
 * stay. */
void line_text_add_lines(struct text *text, const char *lines, size_t len);
