#include "output/report/report_top.h"

#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/report/table.h"
#include "output/views/report_rows.h"

#include <errno.h>
#include <stdlib.h>

#define NUMBERS_WIDTH 32 /* columns of a row up to the function */

struct top_text {
	FILE *to;
	const struct report_options *options;
	const struct profile *profile;
	const struct function_shares *run;
	struct report_rows rows;
	struct report_columns keys;
	char text[CELL_SIZE];
};

static void measure(struct top_text *out)
{
	const struct view_query *query = &out->options->query;

	report_columns_init(&out->keys, out->options);
	for (uint32_t i = 0; i < out->rows.nr; i++) {
		const struct profile_row row = report_row(out->profile, &out->rows.rows[i]);

		for (unsigned k = 0; k < query->nr_keys; k++)
			report_columns_note(
				&out->keys, k,
				report_cell(out->profile, &row, query->keys[k], out->text));
	}
	report_columns_fit(&out->keys, NUMBERS_WIDTH);
}

static void put_row(struct top_text *out, struct table *table, const struct subset_row *of)
{
	const struct view_query *query = &out->options->query;
	const struct profile_row row = report_row(out->profile, of);
	uint64_t run = function_shares_self(out->run, function_key(out->profile, &row));

	table_begin(table);
	table_share(table, row.self, out->profile->total);
	table_error(table, profile_error(&row), out->profile->total);
	table_share(table, run, out->run->total);
	for (unsigned k = 0; k < query->nr_keys; k++)
		report_columns_put(out->to, &out->keys, k,
		                   report_cell(out->profile, &row, query->keys[k], out->text));
	table_end(table);
}

static int put_rows(struct top_text *out)
{
	char title[TEXT_SIZE];
	const struct column columns[] = {
		{title, "self", COLUMN_SHARE, 10},
		{"± error", NULL, COLUMN_ERROR, 8},
		{"whole run", "run", COLUMN_SHARE, 9},
		{NULL, NULL, COLUMN_END, 0},
	};
	struct table table = {.columns = columns, .to = out->to};
	int err = report_rows_of_all(&out->rows);

	snprintf(title, sizeof(title), "last %.4g s", (double)out->options->query.interval / 1e9);

	if (err)
		return err;
	measure(out);
	table_titles(&table);
	report_columns_titles(out->to, &out->keys);
	fputc('\n', out->to);
	for (uint32_t i = 0; i < out->rows.nr; i++)
		put_row(out, &table, &out->rows.rows[i]);
	return 0;
}

static int put_profile(struct top_text *out)
{
	const struct event_amount amount = event_amount_of(out->profile);
	int err = report_rows_init(&out->rows, out->profile, &out->options->query);

	if (!err) {
		report_head_event(out->to, &amount);
		err = report_head_part(out->to, &amount);
	}
	if (!err) {
		fputc('\n', out->to);
		err = put_rows(out);
	}
	report_rows_fini(&out->rows);
	return err;
}

int report_top_text(FILE *to, const struct trace *trace, const struct function_shares *run,
                    const struct report_options *options)
{
	struct top_text *out = calloc(1, sizeof(*out));
	struct profile_view view;
	struct profile *profile;
	int err;

	if (!out)
		return -ENOMEM;
	*out = (struct top_text){.to = to, .options = options, .run = run};
	profile = report_profile(trace, options->query.event, &options->query, &view);
	out->profile = profile;
	err = profile ? put_profile(out) : -errno;
	profile_free(profile);
	free(out);
	return err;
}
