#include "output/text/json_text.h"
#include "output/report/report_diff.h"
#include "output/report/report_row_json.h"
#include "output/text/text.h"
#include "output/profile/warnings.h"

#include <math.h>
#include <string.h>

struct diff_json {
	const struct diff_report *report;
	struct json_object *events;
};

static struct json_object *side_object(const struct diff *diff, unsigned side)
{
	struct json_object *object = json_new(), *warnings = json_list();

	json_add_int(object, "total_weight", llround(diff->whole.of[side].mean));
	json_add_number(object, "samples", diff->whole.of[side].samples);
	for (unsigned run = 0; run < diff->runs[side].nr; run++)
		warnings_of_profile(diff->runs[side].profiles[run], json_append_text, warnings);
	json_add(object, "warnings", warnings);
	return object;
}

/* Weights have no fractions. */
static struct json_object *number(const struct diff_report *report, double value)
{
	return report->shares ? json_real(value) : json_int(llround(value));
}

/* Without a column of its own a file is compared by its name alone. */
static void name_file(const struct profile *profile, const struct profile_row *row,
                      struct json_object *object)
{
	const struct frame_name *name = &profile->names.names[row->name];

	if (profile->config.keys & PROFILE_BY_LINE && !(profile->config.keys & PROFILE_BY_FILE) &&
	    row->name != PROFILE_NONE && name->file)
		json_add_text(object, "file",
		              text_file_name(trace_string(profile->trace, name->file)));
}

/* Functions have other names in other traces: what is told is the one that all columns have. */
static void name_function(const struct diff_row *row, const struct report_options *options,
                          struct json_object *object)
{
	const char *cell = row->cells;

	for (unsigned k = 0; k < options->nr_keys; k++, cell += strlen(cell) + 1)
		if (options->keys[k] == PROFILE_BY_SYMBOL &&
		    row->profile->rows[row->number].name != PROFILE_NONE)
			json_add_text(object, "symbol", cell);
}

static struct json_object *row_object(const struct diff_row *row, const struct diff_report *report)
{
	struct json_object *object = json_new();

	report_row_json(row->profile, &row->profile->rows[row->number], report->options, object);
	name_file(row->profile, &row->profile->rows[row->number], object);
	name_function(row, report->options, object);
	json_add(object, "change", number(report, row->change));
	json_add(object, "error", number(report, row->error));
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct json_object *of = json_new();

		json_add(of, "self", number(report, row->of[side].mean));
		json_add_number(of, "samples", row->of[side].samples);
		json_add(object, diff_side_names[side], of);
	}
	return object;
}

static void add_event(void *arg, const struct diff *diff)
{
	struct diff_json *out = arg;
	const struct profile *profile = diff->runs[DIFF_BEFORE].profiles[0];
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	struct json_object *object = json_new(), *rows = json_list();

	json_add_text(object, "event", trace_string(profile->trace, event->name));
	json_add_text(object, "unit",
	              out->report->shares ? "percent" : trace_unit_name(event->unit));
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_add(object, diff_side_names[side], side_object(diff, side));
	if (!diff_has_one_run_each(diff)) {
		json_add_int(object, "change", llround(diff->whole.change));
		json_add_int(object, "error", llround(diff->whole.error));
	}
	for (size_t i = 0; i < diff->nr && i < out->report->options->limit; i++)
		json_append(rows, row_object(&diff->rows[i], out->report));
	json_add(object, "functions", rows);
	json_append(out->events, object);
}

static struct json_object *run_object(const struct diff_traces *runs, unsigned run)
{
	struct json_object *object = json_new(), *warnings = json_list();
	const struct trace_run *of = trace_run(runs->traces[run]);

	json_add_text(object, "file", runs->names[run]);
	json_add_number(object, "wall_ns", trace_wall(of));
	warnings_of_run(runs->traces[run], json_append_text, warnings);
	json_add(object, "warnings", warnings);
	return object;
}

static struct json_object *runs_list(const struct diff_traces *runs)
{
	struct json_object *list = json_list();

	for (unsigned run = 0; run < runs->nr; run++)
		json_append(list, run_object(runs, run));
	return list;
}

int report_diff_json(FILE *to, const struct diff_report *report)
{
	struct json_out json = {.to = to};
	struct diff_json out = {report, json_list()};
	struct json_object *whole = json_new();
	int err = report_diff_walk(report, add_event, &out);

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_add(whole, diff_side_names[side], runs_list(&report->sides[side]));
	json_add(whole, "events", out.events);
	if (err) {
		json_free(whole);
		return err;
	}
	json_put(&json, whole);
	fputc('\n', to);
	return json.err;
}
