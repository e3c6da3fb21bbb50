#include "output/report/report_columns.h"
#include "output/views/report_keys.h"
#include "output/report/report_text.h"
#include "output/text/short_name.h"
#include "output/text/text.h"

#include <stdlib.h>
#include <string.h>

#define MIN_MODULE 8 /* columns of it that are left, with others beside it */

#define MAX_PAD  72  /* longer names push the rest of their row aside, */
#define MAX_NAME 100 /* and longer ones out of sight */

void report_columns_init(struct report_columns *columns, const struct report_options *options)
{
	*columns = (struct report_columns){.options = options};
	for (unsigned k = 0; k < options->query.nr_keys; k++)
		columns->widths[k] = text_put(NULL, report_key_name(options->query.keys[k]), 0);
}

static bool is_last(const struct report_columns *columns, unsigned k)
{
	return k + 1 == columns->options->query.nr_keys;
}

/* Without a terminal, a name that pushes nothing aside stays as it is. NULL: this one does. */
static char *shorter(const struct report_columns *columns, unsigned k, const char *text)
{
	char *name = NULL;

	if (!columns->options->style.width &&
	    columns->options->query.keys[k] == PROFILE_BY_SYMBOL && !is_last(columns, k) &&
	    text_put(NULL, text, 0) > MAX_NAME)
		name = strdup(text);
	if (name)
		short_arguments(name, MAX_NAME);
	return name;
}

void report_columns_note(struct report_columns *columns, unsigned k, const char *text)
{
	char *name = shorter(columns, k, text);
	unsigned width = text_put(NULL, name ? name : text, 0);

	if (width > columns->widths[k] && (width <= MAX_PAD || columns->options->style.width))
		columns->widths[k] = width;
	free(name);
}

/* Finds the column of modules: they matter least beside a function's name. */
static unsigned *module_column(struct report_columns *columns)
{
	const struct report_options *options = columns->options;
	unsigned *found = NULL;

	for (unsigned k = 0; k < options->query.nr_keys; k++)
		if (options->query.keys[k] == PROFILE_BY_MODULE && columns->widths[k] > MIN_MODULE)
			found = &columns->widths[k];
	return options->query.nr_keys > 1 ? found : NULL;
}

/*
 * Returns the width of the widest column that can shrink; among equally wide ones, of the last.
 * of_lines: search only columns of source lines, else only the others. Source lines shrink last,
 * because their texts end with the line number.
 */
static unsigned *widest(struct report_columns *columns, bool of_lines)
{
	unsigned *found = NULL;

	for (unsigned k = 0; k < columns->options->query.nr_keys; k++)
		if ((columns->options->query.keys[k] == PROFILE_BY_LINE) == of_lines &&
		    columns->widths[k] > MIN_COLUMN && (!found || columns->widths[k] >= *found))
			found = &columns->widths[k];
	return found;
}

void report_columns_fit(struct report_columns *columns, unsigned used)
{
	unsigned room = columns->options->style.width, *width;

	for (unsigned k = 0; k < columns->options->query.nr_keys; k++)
		used += columns->widths[k] + 2;
	for (; room && used > room; used--) {
		width = module_column(columns) ?: widest(columns, false) ?: widest(columns, true);
		if (!width)
			return;
		--*width;
	}
}

void report_columns_titles(FILE *to, const struct report_columns *columns)
{
	for (unsigned k = 0; k < columns->options->query.nr_keys; k++) {
		fputs("  ", to);
		text_put_padded(to, report_key_name(columns->options->query.keys[k]),
		                is_last(columns, k) ? 0 : columns->widths[k]);
	}
}

unsigned report_cell_put(FILE *to, enum profile_keys key, const char *text, unsigned width)
{
	char *shorter = width && key == PROFILE_BY_SYMBOL ? strdup(text) : NULL;
	unsigned used;

	if (shorter)
		short_name(shorter, width);
	used = text_put(to, shorter ? shorter : text, width);
	free(shorter);
	return used;
}

void report_columns_put(FILE *to, const struct report_columns *columns, unsigned k,
                        const char *text)
{
	unsigned width = columns->widths[k], used;
	char *name = shorter(columns, k, text);

	fputs("  ", to);
	used = report_cell_put(to, columns->options->query.keys[k], name ? name : text,
	                       columns->options->style.width ? width : 0);
	free(name);
	if (used < width && !is_last(columns, k))
		fprintf(to, "%*s", (int)(width - used), "");
}

/* --- counters --------------------------------------------------------------------------------- */

#define MIN_COUNTER 8 /* "~123.4M" with what parts it from the next one */

static unsigned counter_width(const struct counter_column *column)
{
	unsigned width = text_put(NULL, column->title, 0);

	return width > MIN_COUNTER ? width : MIN_COUNTER;
}

unsigned report_counters_width(const struct counter_columns *columns)
{
	unsigned width = 0;

	for (unsigned i = 0; i < columns->nr; i++)
		width += counter_width(&columns->columns[i]) + 2;
	return width;
}

/* Puts a text at the right of its column. */
static void put_right(FILE *to, const char *text, unsigned width)
{
	unsigned used = text_put(NULL, text, 0);

	fprintf(to, "%*s", (int)(2 + (used < width ? width - used : 0)), "");
	text_put(to, text, 0);
}

void report_counters_titles(FILE *to, const struct counter_columns *columns)
{
	for (unsigned i = 0; i < columns->nr; i++)
		put_right(to, columns->columns[i].title, counter_width(&columns->columns[i]));
}

void report_counters_values(FILE *to, const struct counter_columns *columns,
                            const uint64_t *counters)
{
	char text[TEXT_SIZE] = "";

	for (unsigned i = 0; i < columns->nr; i++) {
		if (counters)
			counter_column_text(&columns->columns[i], counters, text);
		put_right(to, text, counter_width(&columns->columns[i]));
	}
}
