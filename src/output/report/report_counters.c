#include "output/report/report_counters.h"

#define LEAST_WIDTH 8 /* "~123.4M" with what parts it from the next one */

static unsigned width_of(const struct counter_column *column)
{
	unsigned width = text_put(NULL, column->title, 0);

	return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

unsigned report_counters_width(const struct counter_columns *columns)
{
	unsigned width = 0;

	for (unsigned i = 0; i < columns->nr; i++)
		width += width_of(&columns->columns[i]) + 2;
	return width;
}

/* At the right of its column. */
static void put_right(FILE *to, const char *text, unsigned width)
{
	unsigned used = text_put(NULL, text, 0);

	fprintf(to, "%*s", (int)(2 + (used < width ? width - used : 0)), "");
	text_put(to, text, 0);
}

void report_counters_titles(FILE *to, const struct counter_columns *columns)
{
	for (unsigned i = 0; i < columns->nr; i++)
		put_right(to, columns->columns[i].title, width_of(&columns->columns[i]));
}

void report_counters_values(FILE *to, const struct counter_columns *columns,
                            const uint64_t *counters)
{
	char text[TEXT_SIZE] = "";

	for (unsigned i = 0; i < columns->nr; i++) {
		if (counters)
			counter_column_text(&columns->columns[i], counters, text);
		put_right(to, text, width_of(&columns->columns[i]));
	}
}
