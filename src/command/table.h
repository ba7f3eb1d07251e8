/* Rows of cells, printed in columns that are as wide as their widest cell. */
#pragma once

#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct table {
	size_t n_columns; /* set by the caller before the first cell */
	char **cells; /* row after row */
	size_t n_cells;
	size_t capacity;
};

void table_done(struct table *table);
/* The next cell of the row, and of the next row behind the last column. NULL and "" become "-". */
void table_add(struct table *table, const char *cell);
void table_addf(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);
/* The member of a struct, an int or a text. */
void table_add_member(struct table *table, const void *row, size_t offset, bool is_number);
/* A whole row from a list of n_columns texts: the headings. */
void table_add_row(struct table *table, const char *const *cells);
/* Appends the lines: three blanks between columns as kubectl has them, none at a line's end. */
void table_write(const struct table *table, struct text *text);
