#include "output/report/table.h"

#include "output/report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* An error stands close to its share. */
static void put_gap(struct table *table, const struct column *column)
{
	if (table->any)
		fputs(column->kind == COLUMN_ERROR ? " " : "  ", table->to);
	table->any = true;
}

static void put_right(struct table *table, const struct column *column, const char *text)
{
	put_gap(table, column);
	if (column->kind == COLUMN_NAME)
		text_put(table->to, text, 0);
	else
		fprintf(table->to, "%*s", text_field(text, column->width), text);
}

static bool is_shown(const struct table *table, const struct column *column)
{
	bool hidden = table->hidden && column->key && !strcmp(column->key, table->hidden);

	return column->title && !hidden;
}

void table_titles(struct table *table)
{
	const char *amount = table->unit == TRACE_NS ? "time" : "count";

	table->any = false;
	for (const struct column *column = table->columns; column->kind; column++)
		if (is_shown(table, column))
			put_right(table, column, *column->title ? column->title : amount);
}

void table_begin(struct table *table)
{
	table->at = table->columns;
	table->any = table->blank = false;
	if (table->json)
		json_begin(table->json, NULL);
}

void table_end(struct table *table)
{
	if (table->json)
		json_end(table->json);
	else
		fputc('\n', table->to);
}

/* Returns the next cell's column; NULL: it is not in the output. */
static const struct column *next_column(struct table *table)
{
	const struct column *column = table->at++;

	return (table->json ? column->key != NULL : is_shown(table, column)) ? column : NULL;
}

bool table_skip(struct table *table)
{
	const struct column *column = next_column(table);

	if (column && !table->json)
		put_gap(table, column);
	return column;
}

static void value_text(const struct table *table, const struct column *column, double value,
                       char text[TEXT_SIZE])
{
	switch (column->kind) {
	case COLUMN_AMOUNT:
	case COLUMN_TIME:
		text_cell(text, value, column->kind == COLUMN_TIME ? TRACE_NS : table->unit);
		break;
	case COLUMN_SHARE:
		snprintf(text, TEXT_SIZE, "%.2f%%", value);
		break;
	case COLUMN_ERROR:
		snprintf(text, TEXT_SIZE, "±%*.2f%%", (int)column->width - 2, value);
		break;
	default:
		snprintf(text, TEXT_SIZE, "%.6g", value);
	}
}

static void put_real(struct table *table, const struct column *column, double value)
{
	char text[TEXT_SIZE] = "-";

	if (isfinite(value) && !table->blank)
		value_text(table, column, value, text);
	put_right(table, column, text);
}

static void put_number(struct table *table, const struct column *column, uint64_t value)
{
	char text[TEXT_SIZE] = "-";

	if (table->blank)
		;
	else if (column->kind == COLUMN_COUNT)
		snprintf(text, sizeof(text), "%" PRIu64, value);
	else if (column->kind == COLUMN_BYTES || (column->kind == COLUMN_SOME_BYTES && value))
		text_bytes(text, value);
	else if (column->kind != COLUMN_SOME_BYTES)
		value_text(table, column, (double)value, text);
	put_right(table, column, text);
}

void table_number(struct table *table, uint64_t value)
{
	table_known(table, true, value);
}

void table_known(struct table *table, bool known, uint64_t value)
{
	const struct column *column = next_column(table);

	if (!column)
		return;
	if (table->json)
		json_known(table->json, column->key, known, value);
	else if (known)
		put_number(table, column, value);
	else
		put_right(table, column, "-");
}

void table_int(struct table *table, int64_t value)
{
	const struct column *column = next_column(table);
	char text[TEXT_SIZE];

	if (!column)
		return;
	snprintf(text, sizeof(text), "%" PRId64, value);
	if (table->json)
		json_int(table->json, column->key, value);
	else
		put_right(table, column, text);
}

void table_real(struct table *table, double value)
{
	const struct column *column = next_column(table);

	if (column && table->json)
		json_real(table->json, column->key, value);
	else if (column)
		put_real(table, column, value);
}

void table_share(struct table *table, uint64_t part, uint64_t whole)
{
	const struct column *column = next_column(table);

	if (column && table->json)
		json_number(table->json, column->key, part);
	else if (column)
		put_real(table, column, percent((double)part, whole));
}

/* Half an occurrence can be much of a small count: no row may look more certain than it is. */
static uint64_t whole_error(double error, uint64_t whole)
{
	error = ceil(error);
	return error < (double)whole ? (uint64_t)error : whole;
}

void table_error(struct table *table, double error, uint64_t whole)
{
	const struct column *column = next_column(table);

	if (column && table->json)
		json_number(table->json, column->key, whole_error(error, whole));
	else if (column)
		put_real(table, column, percent_error(error, whole));
}

void table_text(struct table *table, const char *text)
{
	const struct column *column = next_column(table);

	if (column && table->json)
		json_text(table->json, column->key, text);
	else if (column)
		put_right(table, column, text);
}
