#include "output/report/function_table.h"

const struct column function_columns[] = {
	{"self", "self", COLUMN_SHARE, 7},
	{"± error", NULL, COLUMN_ERROR, 8},
	{"", NULL, COLUMN_AMOUNT, 8},
	{"total", "total", COLUMN_SHARE, 7},
	{"samples", "samples", COLUMN_COUNT, 7},
	{NULL, "error", COLUMN_ERROR, 0},
	{NULL, NULL, COLUMN_END, 0},
};

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
	table_error(table, error, whole);
}
