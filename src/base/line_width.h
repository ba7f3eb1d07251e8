/* How many columns a line takes on a terminal, and lines cut to what a terminal has. Lines are safe
 * (base/line_text): besides text there are only colours and tabs in them. */
#pragma once

#include "base/own.h"
#include "base/text.h"

#include <stddef.h>

/* Wide characters count twice, combining ones nothing. Terminals differ about a few. */
size_t line_width(const char *line, size_t len);

/* Rows of a terminal that is `columns` (1 or more) wide; an empty line takes one. */
size_t line_rows(const char *line, size_t len, size_t columns);

/* Adds the line; what takes more than `columns` (1 or more) is cut, with "…" in its last one. */
void line_add_cut(struct text *text, const char *line, size_t len, size_t columns);
