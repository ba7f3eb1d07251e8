/* A table whose columns are as wide as their widest cell. */
#pragma once

#include "base/text.h"

struct table {
	size_t n_columns; /* set by the caller before the first cell */
	char **cells; /* row after row */
	size_t n_cells;
	size_t capacity;
};

void table_done(struct table *table);
/* Adds the next cell of the row; after the last column, the first of the next row. NULL and ""
 * become "-". */
void table_add(struct table *table, const char *cell);
void table_addf(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);
/* Adds the duration between two times; "-" if one of them is not set. */
void table_add_span(struct table *table, msec from, msec to);
/* Adds a time, in this machine's time zone or in UTC; "-" if it is not set. */
void table_add_time(struct table *table, msec time, bool is_local);
/* Adds a whole row from a list of n_columns texts: the headings. */
void table_add_row(struct table *table, const char *const *cells);
/* Appends the lines: three spaces between columns as in kubectl, none at a line's end. */
void table_write(const struct table *table, struct text *text);
