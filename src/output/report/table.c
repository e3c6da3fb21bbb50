#include "output/report/table.h"

#include "output/report/report_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* An error stands close to its share, and a rank to its amount. */
static unsigned gap_before(const struct column *column)
{
	return column->type == COLUMN_ERROR || column->type == COLUMN_RANK ? 1 : 2;
}

static void put_gap(struct table *table, const struct column *column)
{
	if (table->any)
		fprintf(table->to, "%*s", (int)(table->due + gap_before(column)), "");
	table->any = true;
	table->due = 0;
}

static void put_text(struct table *table, const struct column *column, const char *text)
{
	unsigned used;

	put_gap(table, column);
	if (column->type != COLUMN_NAME && column->type != COLUMN_RANK) {
		fprintf(table->to, "%*s", text_field(text, column->width), text);
		return;
	}
	used = text_put(table->to, text, 0);
	table->due = column->width > used ? column->width - used : 0;
}

static bool is_shown(const struct table *table, const struct column *column)
{
	bool hidden = table->hidden && column->key && !strcmp(column->key, table->hidden);
	size_t number = (size_t)(column - table->columns);

	return column->title && !hidden && !(number < 64 && table->left_out >> number & 1);
}

static void leave_out(struct table *table, const char *title)
{
	for (unsigned i = 0; i < 64 && table->columns[i].type; i++)
		if (table->columns[i].title && !strcmp(table->columns[i].title, title))
			table->left_out |= UINT64_C(1) << i;
}

void table_fit(struct table *table, const char *const *titles, unsigned width)
{
	for (; *titles && table_width(table) > width; titles++)
		leave_out(table, *titles);
}

void table_titles(struct table *table)
{
	const char *amount = table->unit == TRACE_NS ? "time" : "count";

	table->any = false;
	for (const struct column *column = table->columns; column->type; column++)
		if (is_shown(table, column))
			put_text(table, column, *column->title ? column->title : amount);
}

unsigned table_width(const struct table *table)
{
	unsigned width = 0;

	for (const struct column *column = table->columns; column->type; column++)
		if (is_shown(table, column))
			width += (width ? gap_before(column) : 0) + column->width;
	return width;
}

void table_begin(struct table *table)
{
	table->at = table->columns;
	table->any = table->blank = false;
	table->due = 0;
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

static void unit_text(const struct column *column, double value, char text[TEXT_SIZE])
{
	static const struct column_unit per_cent = {1, "%", 2};
	const struct column_unit *unit = column->unit ? column->unit : &per_cent;
	size_t size;

	text_fixed(text, value / unit->size, unit->digits, column->type == COLUMN_CHANGE);
	size = strlen(text);
	snprintf(text + size, TEXT_SIZE - size, "%s", unit->name);
}

static void value_text(const struct table *table, const struct column *column, double value,
                       char text[TEXT_SIZE])
{
	if (column->unit || column->type == COLUMN_SHARE || column->type == COLUMN_ERROR)
		unit_text(column, value, text);
	else if (column->type == COLUMN_AMOUNT || column->type == COLUMN_TIME)
		text_cell(text, value, column->type == COLUMN_TIME ? TRACE_NS : table->unit);
	else
		snprintf(text, TEXT_SIZE, "%.6g", value);
}

static void put_real(struct table *table, const struct column *column, double value)
{
	char text[TEXT_SIZE] = "-";
	bool known = isfinite(value) && !table->blank;

	if (known)
		value_text(table, column, value, text);
	if (!known || column->type != COLUMN_ERROR) {
		put_text(table, column, text);
		return;
	}
	put_gap(table, column);
	fprintf(table->to, "±%*s", text_field(text, column->width - 1), text);
}

static void put_number(struct table *table, const struct column *column, uint64_t value)
{
	char text[TEXT_SIZE] = "-";

	if (table->blank)
		;
	else if (column->type == COLUMN_COUNT)
		snprintf(text, sizeof(text), "%" PRIu64, value);
	else if (column->type == COLUMN_ADDRESS)
		snprintf(text, sizeof(text), "%" PRIx64, value);
	else if (column->type == COLUMN_BYTES || (column->type == COLUMN_SOME_BYTES && value))
		text_bytes(text, value);
	else if (column->type != COLUMN_SOME_BYTES)
		value_text(table, column, (double)value, text);
	put_text(table, column, text);
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
		put_text(table, column, "-");
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
		put_text(table, column, text);
}

void table_real(struct table *table, double value)
{
	const struct column *column = next_column(table);

	if (column && table->json)
		json_real(table->json, column->key, value);
	else if (column)
		put_real(table, column, value);
}

void table_amount(struct table *table, double value)
{
	if (!table->json || table->fractions)
		table_real(table, value);
	else
		table_int(table, llround(value));
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
	else if (column && text)
		put_text(table, column, text);
}

void table_none(struct table *table)
{
	const struct column *column = next_column(table);

	if (column && !table->json)
		put_text(table, column, "");
}

void table_group(struct table *table, const char *key)
{
	if (table->json)
		json_begin(table->json, key);
}

void table_group_end(struct table *table)
{
	if (table->json)
		json_end(table->json);
}
