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
                        const struct subset_row *of, uint64_t whole)
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

const struct column *tree_columns(enum profile_direction direction)
{
	static const struct column columns[][6] = {
		[PROFILE_ALL] = {{NULL, "others", COLUMN_COUNT, 0, NULL},
	                         {NULL, "self", COLUMN_AMOUNT, 0, NULL},
	                         {"total", "total", COLUMN_SHARE, 8, NULL},
	                         {NULL, NULL, COLUMN_SHARE, 0, NULL},
	                         {"self", NULL, COLUMN_SHARE, 8, NULL},
	                         {NULL, NULL, COLUMN_END, 0, NULL}},
		[PROFILE_CALLERS] = {{NULL, "others", COLUMN_COUNT, 0, NULL},
	                             {NULL, NULL, COLUMN_AMOUNT, 0, NULL},
	                             {"total", "total", COLUMN_SHARE, 8, NULL},
	                             {"of it", NULL, COLUMN_SHARE, 8, NULL},
	                             {NULL, NULL, COLUMN_SHARE, 0, NULL},
	                             {NULL, NULL, COLUMN_END, 0, NULL}},
		[PROFILE_CALLEES] = {{NULL, "others", COLUMN_COUNT, 0, NULL},
	                             {NULL, "self", COLUMN_AMOUNT, 0, NULL},
	                             {"total", "total", COLUMN_SHARE, 8, NULL},
	                             {"of it", NULL, COLUMN_SHARE, 8, NULL},
	                             {"self", NULL, COLUMN_SHARE, 8, NULL},
	                             {NULL, NULL, COLUMN_END, 0, NULL}},
	};

	return columns[direction];
}

static void put_share(struct table *table, const uint64_t *part, uint64_t whole)
{
	if (part)
		table_share(table, *part, whole);
	else
		table_none(table);
}

void put_branch_cells(struct table *table, const struct profile *profile,
                      const struct profile_view *view, uint32_t others, uint64_t total,
                      const uint64_t *self)
{
	const uint64_t nr = others;

	put_share(table, others ? &nr : NULL, 0);
	put_share(table, self, 0);
	table_share(table, total, profile->total);
	table_share(table, total, view->total);
	put_share(table, self, profile->total);
}
