#include "output/json_text.h"
#include "output/report_columns.h"
#include "output/report_diff.h"
#include "output/warnings.h"

#include <math.h>
#include <string.h>

struct diff_json {
	const struct diff_report *report;
	struct json_object *events;
};

static struct json_object *side_object(const struct diff *diff, unsigned side)
{
	struct json_object *object = json_new(), *warnings = json_list();
	const struct profile *profile = diff->profiles[side];

	json_add_number(object, "total_weight", profile->total);
	json_add_number(object, "samples", profile->samples);
	warnings_of_profile(profile, json_append_text, warnings);
	json_add(object, "warnings", warnings);
	return object;
}

/* Weights have no fractions. */
static struct json_object *number(const struct diff_report *report, double value)
{
	return report->shares ? json_real(value) : json_int(llround(value));
}

static struct json_object *row_object(const struct diff_row *row, const struct diff_report *report)
{
	const struct report_options *options = report->options;
	struct json_object *object = json_new();
	const char *cell = row->cells;

	for (unsigned k = 0; k < options->nr_keys; k++) {
		json_add(object, report_key_title(options->keys[k]), json_text(cell));
		cell += strlen(cell) + 1;
	}
	json_add(object, "change", number(report, row->change));
	json_add(object, "error", number(report, row->error));
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct json_object *of = json_new();

		json_add(of, "self", number(report, row->value[side]));
		json_add_number(of, "samples", row->samples[side]);
		json_add(object, diff_side_names[side], of);
	}
	return object;
}

static int add_event(void *arg, const struct diff *diff)
{
	struct diff_json *out = arg;
	const struct profile *profile = diff->profiles[DIFF_BEFORE];
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	struct json_object *object = json_new(), *rows = json_list();

	json_add(object, "event", json_text(trace_string(profile->trace, event->name)));
	json_add(object, "unit",
	         json_text(out->report->shares       ? "percent"
	                   : event->unit == TRACE_NS ? "ns"
	                                             : "count"));
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_add(object, diff_side_names[side], side_object(diff, side));
	for (size_t i = 0; i < diff->nr && i < out->report->options->limit; i++)
		json_append(rows, row_object(&diff->rows[i], out->report));
	json_add(object, "functions", rows);
	json_append(out->events, object);
	return 0;
}

static struct json_object *run_object(const struct diff_report *report, unsigned side)
{
	struct json_object *object = json_new(), *warnings = json_list();
	const struct trace_run *run = trace_run(report->traces[side]);

	json_add(object, "file", json_text(report->names[side]));
	json_add_number(object, "wall_ns", run->end > run->start ? run->end - run->start : 0);
	warnings_of_run(report->traces[side], json_append_text, warnings);
	json_add(object, "warnings", warnings);
	return object;
}

int report_diff_json(FILE *to, const struct diff_report *report)
{
	struct json_out json = {.to = to};
	struct diff_json out = {report, json_list()};
	struct json_object *whole = json_new();
	int err = report_diff_walk(report, add_event, &out);

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_add(whole, diff_side_names[side], run_object(report, side));
	json_add(whole, "events", out.events);
	if (err)
		json_free(whole);
	else
		json_put(&json, whole);
	return err ? err : json.err;
}
