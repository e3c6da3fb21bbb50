#include "output/views/diff.h"

#include "output/profile/warnings_build.h"

#include <string.h>

#define LOOKED_AT 100 /* rows, for functions that only seem to be new */

const char *diff_cell(const struct diff_row *row, unsigned k)
{
	const char *text = row->cells;

	for (; k; k--)
		text += strlen(text) + 1;
	return text;
}

/* The columns of functions that are told apart by their modules. */
struct named_rows {
	const struct diff *diff;
	int symbol, module; /* numbers of keys; -1: there is no such column */
};

static const char *symbol_of(const struct named_rows *rows, const struct diff_row *row)
{
	return diff_cell(row, (unsigned)rows->symbol);
}

static const char *module_of(const struct named_rows *rows, const struct diff_row *row)
{
	return diff_cell(row, (unsigned)rows->module);
}

/* Tells whether the module of this row was met on the side. */
static bool has_module(const struct named_rows *rows, const struct diff_row *row, unsigned side)
{
	const struct diff *diff = rows->diff;

	for (size_t i = 0; i < diff->nr; i++)
		if (diff->rows[i].of[side].samples &&
		    !strcmp(module_of(rows, &diff->rows[i]), module_of(rows, row)))
			return true;
	return false;
}

/* Returns the row of a function of this name in a module that was met afterwards alone, or NULL. */
static const struct diff_row *find_moved(const struct named_rows *rows, const struct diff_row *row)
{
	for (size_t i = 0; i < rows->diff->nr; i++) {
		const struct diff_row *other = &rows->diff->rows[i];

		if (other->of[DIFF_AFTER].samples && !other->of[DIFF_BEFORE].samples &&
		    !strcmp(symbol_of(rows, other), symbol_of(rows, row)) &&
		    !has_module(rows, other, DIFF_BEFORE))
			return other;
	}
	return NULL;
}

static int number_of(const struct view_query *query, enum profile_keys key)
{
	for (unsigned k = 0; k < query->nr_keys; k++)
		if (query->keys[k] == key)
			return (int)k;
	return -1;
}

/* Two builds under two names have no function in common, where modules tell functions apart. */
void diff_warnings(const struct diff *diff, const struct view_query *query, warning_fn *fn,
                   void *arg)
{
	const struct named_rows rows = {diff, number_of(query, PROFILE_BY_SYMBOL),
	                                number_of(query, PROFILE_BY_MODULE)};
	const struct warner warner = {fn, arg};

	if (rows.symbol < 0 || rows.module < 0)
		return;
	for (size_t i = 0; i < diff->nr && i < LOOKED_AT; i++) {
		const struct diff_row *row = &diff->rows[i], *other = NULL;

		if (diff_is_clear(row) && row->of[DIFF_BEFORE].samples &&
		    !has_module(&rows, row, DIFF_AFTER))
			other = find_moved(&rows, row);
		if (!other)
			continue;
		warn(&warner,
		     "functions of '%.128s' are in '%.128s' after: --sort symbol compares them by "
		     "their names alone",
		     module_of(&rows, row), module_of(&rows, other));
		return;
	}
}
