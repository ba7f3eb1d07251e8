/* Measures how many columns a line takes on a terminal, and cuts lines to a width. Lines must be
 * safe (base/line_text): they contain only text, colors and tabs. */
#pragma once

#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* Wide characters count two, combining ones zero. Terminals differ in a few. */
size_t line_width(const char *line, size_t len);

/* Number of rows on a terminal that is `columns` (1 or more) wide; an empty line takes one. */
size_t line_rows(const char *line, size_t len, size_t columns);

/* Appends the line; if it takes more than `columns` (1 or more), it is cut, with "…" in the last
 * one. */
void line_add_cut(struct text *text, const char *line, size_t len, size_t columns);
