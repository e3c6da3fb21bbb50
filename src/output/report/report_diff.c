#include "output/report/diff_table.h"
#include "output/report/report_diff.h"
#include "output/views/report_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The event that was sampled there by the same name; TRACE_ALL_EVENTS: none. */
static uint32_t same_event(const struct trace *trace, const char *name, unsigned unit)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		if (event->unit == unit && !strcmp(trace_string(trace, event->name), name))
			return i;
	return TRACE_ALL_EVENTS;
}

static const struct trace *first_trace(const struct diff_report *report)
{
	return report->sides[DIFF_BEFORE].traces[0];
}

/*
 * Returns the number in another run of the first run's event i; TRACE_ALL_EVENTS: the run has no
 * such event.
 */
static uint32_t other_event(const struct diff_report *report, const struct trace *trace, uint32_t i)
{
	const struct trace_event *event = trace_event(first_trace(report), i);

	return trace == first_trace(report)
	               ? i
	               : same_event(trace, trace_string(first_trace(report), event->name),
	                            event->unit);
}

/* Whether event i of the first run is to be compared. */
static bool is_common(const struct diff_report *report, uint32_t i)
{
	if (report->options->query.event != TRACE_ALL_EVENTS && report->options->query.event != i)
		return false;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (unsigned run = 0; run < report->sides[side].nr; run++)
			if (other_event(report, report->sides[side].traces[run], i) ==
			    TRACE_ALL_EVENTS)
				return false;
	return true;
}

/*
 * Exact totals of commands are of a trace's first event. Where that is another one in some run,
 * what they say of the others would look like a change.
 */
static bool is_first_everywhere(const struct diff_report *report, uint32_t i)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (unsigned run = 0; run < report->sides[side].nr; run++)
			if (other_event(report, report->sides[side].traces[run], i))
				return false;
	return true;
}

bool report_diff_any(const struct diff_report *report)
{
	for (uint32_t i = 0; trace_event(first_trace(report), i); i++)
		if (is_common(report, i))
			return true;
	return false;
}

/* Makes the profiles of all runs of a side. Call free_profiles() in either case. */
static int make_profiles(const struct diff_report *report, unsigned side, uint32_t event,
                         struct profile ***profiles)
{
	const struct diff_traces *runs = &report->sides[side];
	struct view_query query = report->options->query;
	struct profile_view view;

	*profiles = calloc(runs->nr, sizeof(struct profile *));
	if (!*profiles)
		return -ENOMEM;
	query.self_alone = true; /* the profiles of all runs are there at once */
	query.sampled_alone = !is_first_everywhere(report, event);
	for (unsigned run = 0; run < runs->nr; run++) {
		const struct trace *trace = runs->traces[run];

		(*profiles)[run] =
			report_profile(trace, other_event(report, trace, event), &query, &view);
		if (!(*profiles)[run])
			return -errno;
	}
	return 0;
}

static void free_profiles(const struct diff_traces *runs, struct profile **profiles)
{
	for (unsigned run = 0; profiles && run < runs->nr; run++)
		profile_free(profiles[run]);
	free(profiles);
}

static int put_event(const struct diff_report *report, uint32_t event,
                     void (*put)(void *arg, const struct diff *diff), void *arg)
{
	struct profile **profiles[DIFF_SIDES] = {NULL};
	struct diff_runs runs[DIFF_SIDES];
	struct diff diff = {0};
	int err = 0;

	for (unsigned side = 0; side < DIFF_SIDES && !err; side++) {
		err = make_profiles(report, side, event, &profiles[side]);
		runs[side] = (struct diff_runs){(const struct profile *const *)profiles[side],
		                                report->sides[side].nr};
	}
	if (!err)
		err = diff_init(&diff, runs, &report->options->query, report->shares);
	if (!err)
		put(arg, &diff);
	diff_fini(&diff);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		free_profiles(&report->sides[side], profiles[side]);
	return err;
}

int report_diff_walk(const struct diff_report *report,
                     void (*put)(void *arg, const struct diff *diff), void *arg)
{
	int err = 0;

	for (uint32_t i = 0; trace_event(first_trace(report), i) && !err; i++)
		if (is_common(report, i))
			err = put_event(report, i, put, arg);
	return err;
}

/* --- rows ------------------------------------------------------------------------------------- */

const struct column diff_columns[DIFF_COLUMNS + 1] = {
	{"change", "change", COLUMN_CHANGE, 0, NULL},
	{"± error", "error", COLUMN_ERROR, 0, NULL},
	{"before", "self", COLUMN_AMOUNT, 0, NULL},
	{NULL, "samples", COLUMN_COUNT, 0, NULL},
	{"after", "self", COLUMN_AMOUNT, 0, NULL},
	{NULL, "samples", COLUMN_COUNT, 0, NULL},
	{NULL, NULL, COLUMN_END, 0, NULL},
};

void put_diff_cells(struct table *table, const struct diff_row *row)
{
	table_amount(table, row->change);
	table_amount(table, row->error);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		table_group(table, diff_side_names[side]);
		table_amount(table, row->of[side].mean);
		table_number(table, row->of[side].samples);
		table_group_end(table);
	}
}
