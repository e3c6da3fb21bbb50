#include "output/report_counters.h"

#include <math.h>

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

struct json_object *report_counters_sums(const struct counter_columns *columns,
                                         const uint64_t *counters)
{
	struct json_object *object = json_new();
	double value;

	for (unsigned i = 0; i < columns->nr_sums; i++) {
		const struct counter_column *column = &columns->columns[i];
		struct json_object *number = NULL;

		if (column->state == COUNTER_COUNTED)
			number = json_number(counters[1 + i]);
		else if (counter_column_value(column, counters, &value) && value < 0x1p63)
			number = json_number((uint64_t)llround(value));
		json_add_named(object, column->key, number);
	}
	return object;
}

struct json_object *report_counters_ratios(const struct counter_columns *columns,
                                           const uint64_t *counters)
{
	struct json_object *object = json_new();
	double value;

	for (unsigned i = columns->nr_sums; i < columns->nr; i++) {
		const struct counter_column *column = &columns->columns[i];
		bool known = counter_column_value(column, counters, &value);

		json_add_named(object, column->key, known ? json_real(value) : NULL);
	}
	return object;
}
