#include "command/table.h"

#include "base/line_text.h"
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS_BETWEEN_COLUMNS 3

void table_done(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
}

static void append_table_cell(struct table *table, char *take_text)
{
	mem_grow(&table->cells, &table->capacity, table->n_cells, sizeof(*table->cells));
	table->cells[table->n_cells++] = take_text;
}

void table_add(struct table *table, const char *cell)
{
	struct text text = {0};

	if (cell)
		line_text_add_sentence(&text, cell, strlen(cell));
	if (text.len == 0)
		text_add_char(&text, '-');
	append_table_cell(table, text_take(&text));
}

void table_addf(struct table *table, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *cell CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	table_add(table, cell);
}

void table_add_member(struct table *table, const void *row, size_t offset, bool is_number)
{
	const void *at = (const char *) row + offset;

	if (is_number)
		table_addf(table, "%d", *(const int *) at);
	else
		table_add(table, *(const char *const *) at);
}

void table_add_row(struct table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->n_columns; i++)
		table_add(table, cells[i]);
}

static size_t count_characters(const char *text)
{
	return text_count_characters(text, strlen(text));
}

static size_t find_width(const struct table *table, size_t column)
{
	size_t widest = 0;

	for (size_t i = column; i < table->n_cells; i += table->n_columns) {
		size_t width = count_characters(table->cells[i]);

		if (width > widest)
			widest = width;
	}
	return widest;
}

static void add_blanks(struct text *text, size_t count)
{
	for (; count; count--)
		text_add_char(text, ' ');
}

void table_write(const struct table *table, struct text *text)
{
	size_t *widths CLEANUP(mem_free_any) = mem_new_array(table->n_columns, sizeof(*widths));

	assert(table->n_cells % table->n_columns == 0);
	for (size_t column = 0; column < table->n_columns; column++)
		widths[column] = find_width(table, column) + BLANKS_BETWEEN_COLUMNS;
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t column = i % table->n_columns;

		text_add(text, table->cells[i]);
		if (column + 1 == table->n_columns)
			text_add_char(text, '\n');
		else
			add_blanks(text, widths[column] - count_characters(table->cells[i]));
	}
}
