#include "command/table.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "io/own_process.h"

#include <assert.h>

#define BLANKS_BETWEEN_COLUMNS 3

void table_done(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
}

void table_add(struct table *table, const char *cell)
{
	struct text text = {0};

	if (cell)
		line_text_add_sentence(&text, cell, strlen(cell));
	if (text.len == 0)
		text_add_char(&text, '-');
	mem_grow(&table->cells, &table->capacity, table->n_cells, sizeof(*table->cells));
	table->cells[table->n_cells++] = text_take(&text);
}

void table_addf(struct table *table, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *cell CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	table_add(table, cell);
}

void table_add_span(struct table *table, msec from, msec to)
{
	struct text span CLEANUP(text_done) = {0};

	if (from != MSEC_UNSET && to != MSEC_UNSET)
		text_add_duration(&span, to - from);
	table_add(table, text_of(&span));
}

void table_add_time(struct table *table, msec time, bool is_local)
{
	struct text text CLEANUP(text_done) = {0};

	if (time != MSEC_UNSET)
		text_add_time_ahead(&text, time, is_local ? time_zone_offset(time) : 0);
	table_add(table, text_of(&text));
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

void table_write(const struct table *table, struct text *text)
{
	size_t *widths CLEANUP(mem_free_any) = mem_new_array(table->n_columns, sizeof(*widths));

	assert(table->n_cells % table->n_columns == 0);
	for (size_t column = 0; column < table->n_columns; column++)
		widths[column] = find_width(table, column) + BLANKS_BETWEEN_COLUMNS;
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t column = i % table->n_columns;

		if (column + 1 == table->n_columns)
			text_addf(text, "%s\n", table->cells[i]);
		else
			text_addf(text, "%s%*s", table->cells[i],
				  (int) (widths[column] - count_characters(table->cells[i])), "");
	}
}
