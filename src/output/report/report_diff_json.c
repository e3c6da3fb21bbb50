#include "output/text/json_writer.h"
#include "output/report/diff_table.h"
#include "output/report/report_diff.h"
#include "output/report/report_row_json.h"
#include "output/text/text.h"
#include "output/profile/warnings.h"

#include <math.h>

struct diff_json {
	const struct diff_report *report;
	struct json_writer json;
};

static void put_side(struct diff_json *out, const struct diff *diff, unsigned side)
{
	json_begin(&out->json, diff_side_names[side]);
	json_int(&out->json, "total_weight", llround(diff->whole.of[side].mean));
	json_number(&out->json, "samples", diff->whole.of[side].samples);
	json_begin_list(&out->json, "warnings");
	for (unsigned run = 0; run < diff->runs[side].nr; run++)
		warnings_of_profile(diff->runs[side].profiles[run], json_append_text, &out->json);
	json_end_list(&out->json);
	json_end(&out->json);
}

/* Functions have other names in other traces: returns the one that all columns have. */
static const char *symbol_of(const struct diff_row *row, const struct view_query *query)
{
	for (unsigned k = 0; k < query->nr_keys; k++)
		if (query->keys[k] == PROFILE_BY_SYMBOL)
			return diff_cell(row, k);
	return "";
}

static void put_rows(struct diff_json *out, const struct diff *diff)
{
	const struct view_query *query = &out->report->options->query;
	struct table table = {
		.columns = diff_columns,
		.json = &out->json,
		.fractions = out->report->shares, /* weights have none */
	};

	json_begin_list(&out->json, "functions");
	for (size_t i = 0; i < diff->nr && i < query->limit; i++) {
		const struct diff_row *row = &diff->rows[i];

		table_begin(&table);
		report_row_json(&out->json, row->profile, &row->profile->rows[row->number], query,
		                symbol_of(row, query));
		put_diff_cells(&table, row);
		table_end(&table);
	}
	json_end_list(&out->json);
}

static void put_event(void *arg, const struct diff *diff)
{
	struct diff_json *out = arg;
	const struct profile *profile = diff->runs[DIFF_BEFORE].profiles[0];
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);

	json_begin(&out->json, NULL);
	json_text(&out->json, "event", trace_string(profile->trace, event->name));
	json_text(&out->json, "unit",
	          out->report->shares ? "percent" : trace_unit_name(event->unit));
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		put_side(out, diff, side);
	if (!diff_has_one_run_each(diff)) {
		json_int(&out->json, "change", llround(diff->whole.change));
		json_int(&out->json, "error", llround(diff->whole.error));
	}
	json_begin_list(&out->json, "warnings");
	diff_warnings(diff, &out->report->options->query, json_append_text, &out->json);
	json_end_list(&out->json);
	put_rows(out, diff);
	json_end(&out->json);
}

static void put_runs(struct diff_json *out, unsigned side)
{
	const struct diff_traces *runs = &out->report->sides[side];

	json_begin_list(&out->json, diff_side_names[side]);
	for (unsigned run = 0; run < runs->nr; run++) {
		json_begin(&out->json, NULL);
		json_text(&out->json, "file", runs->names[run]);
		json_number(&out->json, "wall_ns", trace_wall(trace_run(runs->traces[run])));
		json_begin_list(&out->json, "warnings");
		warnings_of_run(runs->traces[run], NULL, json_append_text, &out->json);
		json_end_list(&out->json);
		json_end(&out->json);
	}
	json_end_list(&out->json);
}

int report_diff_json(FILE *to, const struct diff_report *report)
{
	struct diff_json out = {report, {.to = to}};
	int err;

	json_begin(&out.json, NULL);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		put_runs(&out, side);
	json_begin_list(&out.json, "events");
	err = report_diff_walk(report, put_event, &out);
	json_end_list(&out.json);
	json_end(&out.json);
	fputc('\n', to);
	return err;
}
