/* Tables of reports: cells as text and as JSON. */
#include "page.h"

#include <locale.h>

#include "output/report/table.h"

static const struct column_unit milliseconds = {1e6, " ms", 1};

static const struct column columns[] = {
	{"name", "name", COLUMN_NAME, 6, NULL},
	{"count", "count", COLUMN_COUNT, 7, NULL},
	{"change", "change", COLUMN_CHANGE, 8, &milliseconds},
	{"± error", "error", COLUMN_ERROR, 9, &milliseconds},
	{"what", NULL, COLUMN_NAME, 6, NULL},
	{NULL, NULL, COLUMN_END, 0, NULL},
};

static void put_row(struct table *table, const char *name, double change, const char *what)
{
	table_begin(table);
	table_text(table, name);
	if (what)
		table_number(table, 12);
	else
		table_none(table);
	table_group(table, "of");
	table_amount(table, change);
	table_amount(table, 3e5);
	table_group_end(table);
	if (what)
		table_text(table, what);
	table_end(table);
}

/* A name pads its column if a cell follows, and no line ends with blanks. */
static void cells_as_text(void **state)
{
	struct page page;
	struct table table = {.columns = columns, .to = page_open(&page)};

	table_titles(&table);
	fputc('\n', table.to);
	put_row(&table, "a", -2.25e6, "x");
	put_row(&table, "longer name", -1e3, NULL);
	page_expect(&page, "name      count    change   ± error  what\n"
	                   "a            12   -2.2 ms ±  0.3 ms  x\n"
	                   "longer name            +0.0 ms ±  0.3 ms\n");
	assert_int_equal(table_width(&table), 6 + 2 + 7 + 2 + 8 + 1 + 9 + 2 + 6);
	(void)state;
}

static void narrow_tables_leave_columns_out(void **state)
{
	static const char *const spare[] = {"count", "name", "change", NULL};
	struct page page;
	struct table table = {.columns = columns, .to = page_open(&page)};

	table_fit(&table, spare, 34);
	assert_int_equal(table_width(&table), 34);
	table_fit(&table, spare, 26);
	assert_int_equal(table_width(&table), 26);
	put_row(&table, "a", -2.25e6, "x");
	page_expect(&page, " -2.2 ms ±  0.3 ms  x\n");
	(void)state;
}

static void cells_as_json(void **state)
{
	struct page page;
	struct json_writer json = {.to = page_open(&page)};
	struct table table = {.columns = columns, .json = &json};

	put_row(&table, "a", -2.25, "x");
	table.fractions = true;
	put_row(&table, "b", -2.25, NULL);
	page_expect(&page, "{\"name\":\"a\",\"count\":12,\"of\":{\"change\":-2,\"error\":300000}}"
	                   ",{\"name\":\"b\",\"of\":{\"change\":-2.25,\"error\":300000.0}}");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_as_text),
		cmocka_unit_test(narrow_tables_leave_columns_out),
		cmocka_unit_test(cells_as_json),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
