#include "output/report/function_table.h"

#include <math.h>

const struct column function_columns[] = {
	{"self", "self", COLUMN_SHARE, 7},
	{"± error", NULL, COLUMN_ERROR, 8},
	{"", NULL, COLUMN_AMOUNT, 8},
	{"total", "total", COLUMN_SHARE, 7},
	{"samples", "samples", COLUMN_COUNT, 7},
	{NULL, "error", COLUMN_COUNT, 0},
	{NULL, NULL, COLUMN_END, 0},
};

/*
 * Returns the error of a row, rounded up: half an occurrence can be much of a small count, and no
 * row may look more certain than it is.
 */
static uint64_t whole_error(double error, uint64_t whole)
{
	error = ceil(error);
	return error < (double)whole ? (uint64_t)error : whole;
}

void put_function_cells(struct table *table, const struct profile *profile,
                        const struct class_row *of, uint64_t whole)
{
	const struct profile_row row = report_row(profile, of);
	double error = profile_error(&row);

	table_share(table, row.self, whole);
	table_error(table, error, whole);
	table_number(table, row.self);
	table_share(table, of->total, whole);
	table_number(table, row.samples);
	table_number(table, whole_error(error, whole));
}
