#include "output/report/report_columns.h"
#include "output/report/diff_table.h"
#include "output/report/report_diff.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/text/text.h"
#include "output/profile/warnings.h"

#include <math.h>

#define VALUE_WIDTH 9 /* without the unit, at least */

struct diff_text {
	FILE *to;
	const struct diff_report *report;
	unsigned nr_tables;
	/* The following fields belong to the current table. */
	const struct diff *diff;
	struct column columns[DIFF_COLUMNS + 1];
	struct table table;
	struct report_columns keys;
};

/* --- above the table -------------------------------------------------------------------------- */

/* Warnings begin with the side they are about, or with the run where a side has several. */
static struct warning_text warning_of(const struct diff_text *out, unsigned side, unsigned run)
{
	const struct diff_traces *runs = &out->report->sides[side];

	return (struct warning_text){out->to, out->report->options,
	                             runs->nr > 1 ? runs->names[run] : diff_side_names[side]};
}

static void put_side(const struct diff_text *out, unsigned side)
{
	const struct diff_traces *runs = &out->report->sides[side];

	fprintf(out->to, "%s: ", diff_side_names[side]);
	if (runs->nr > 1)
		fprintf(out->to, "%u runs, the first ", runs->nr);
	report_head_run(out->to, runs->traces[0], runs->names[0]);
	for (unsigned run = 0; run < runs->nr; run++) {
		struct warning_text warning = warning_of(out, side, run);

		warnings_of_run(runs->traces[run], NULL, report_warning_text, &warning);
	}
}

static void put_runs(const struct diff_text *out)
{
	const struct diff_traces *sides = out->report->sides;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		put_side(out, side);
	if (sides[DIFF_BEFORE].nr == 1 && sides[DIFF_AFTER].nr == 1)
		fputs("one run each: errors are of sampling alone; folders with traces of more "
		      "runs tell how runs differ\n",
		      out->to);
}

static const struct trace_event *event_of(const struct diff *diff)
{
	const struct profile *profile = diff->runs[DIFF_BEFORE].profiles[0];

	return trace_event(profile->trace, profile->config.event);
}

/* "cpu-clock: 24.20 s before, 19.87 s after: -17.9 %", of several runs with " ± 1.2 %, on average"
 */
static void put_wholes(const struct diff_text *out)
{
	const struct diff *diff = out->diff;
	const struct trace *trace = diff->runs[DIFF_BEFORE].profiles[0]->trace;
	const struct trace_event *event = event_of(diff);
	double before = diff->whole.of[DIFF_BEFORE].mean;
	char texts[DIFF_SIDES][TEXT_SIZE], change[TEXT_SIZE];

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		text_quantity(texts[side], diff->whole.of[side].mean, event->unit);
	text_put(out->to, trace_string(trace, event->name), 0);
	fprintf(out->to, ": %s before, %s after", texts[DIFF_BEFORE], texts[DIFF_AFTER]);
	if (before > 0) {
		text_fixed(change, 100 * diff->whole.change / before, 1, true);
		fprintf(out->to, ": %s %%", change);
	}
	if (before > 0 && !diff_has_one_run_each(diff))
		fprintf(out->to, " ± %.1f %%, on average", 100 * diff->whole.error / before);
	fputc('\n', out->to);
}

static void put_head(const struct diff_text *out)
{
	const struct diff *diff = out->diff;
	struct warning_text warning = {out->to, out->report->options, NULL};

	put_wholes(out);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (unsigned run = 0; run < diff->runs[side].nr; run++) {
			struct warning_text of_run = warning_of(out, side, run);

			warnings_of_profile(diff->runs[side].profiles[run], report_warning_text,
			                    &of_run);
		}
	}
	diff_warnings(diff, &out->report->options->query, report_warning_text, &warning);
	fputc('\n', out->to);
}

/* --- the table -------------------------------------------------------------------------------- */

/* One unit for all rows: the first that is not too large for the largest of them. */
static const struct column_unit *choose_unit(const struct diff_text *out, double largest)
{
	enum { NR_UNITS = 3 };
	static const struct column_unit times[NR_UNITS] = {
		{1e9, " s", 3}, {1e6, " ms", 3}, {1e3, " µs", 3}};
	static const struct column_unit counts[NR_UNITS] = {
		{1e9, " bn", 3}, {1e6, " mn", 3}, {1, "", 0}};
	static const struct column_unit percent = {1, "%", 2};
	const struct column_unit *units = event_of(out->diff)->unit == TRACE_NS ? times : counts;
	unsigned i = 0;

	while (i + 1 < NR_UNITS && largest < units[i].size)
		i++;
	return out->report->shares ? &percent : &units[i];
}

static void make_columns(struct diff_text *out)
{
	const struct diff_row *whole = &out->diff->whole;
	double largest = fmax(whole->of[DIFF_BEFORE].mean, whole->of[DIFF_AFTER].mean);
	const struct column_unit *unit = choose_unit(out, largest);
	int digits = snprintf(NULL, 0, "%+.*f", unit->digits, largest / unit->size);

	if (out->report->shares || digits < VALUE_WIDTH)
		digits = VALUE_WIDTH;
	for (unsigned i = 0; i <= DIFF_COLUMNS; i++) {
		out->columns[i] = diff_columns[i];
		out->columns[i].unit = unit;
		out->columns[i].width = (unsigned)digits + text_put(NULL, unit->name, 0) +
		                        (diff_columns[i].type == COLUMN_ERROR);
	}
	out->table = (struct table){.columns = out->columns, .to = out->to};
}

static bool is_shown(const struct diff_text *out, size_t i)
{
	const struct report_options *options = out->report->options;

	return options->query.all ||
	       (i < options->query.limit && diff_is_clear(&out->diff->rows[i]));
}

static void measure(struct diff_text *out)
{
	report_columns_init(&out->keys, out->report->options);
	for (size_t i = 0; i < out->diff->nr; i++)
		for (unsigned k = 0; is_shown(out, i) && k < out->report->options->query.nr_keys;
		     k++)
			report_columns_note(&out->keys, k, diff_cell(&out->diff->rows[i], k));
	report_columns_fit(&out->keys, table_width(&out->table));
}

static void put_titles(struct diff_text *out)
{
	const struct report_options *options = out->report->options;

	fputs(paint(options, BOLD), out->to);
	table_titles(&out->table);
	report_columns_titles(out->to, &out->keys);
	fprintf(out->to, "%s\n", paint(options, PLAIN));
}

static void put_row(struct diff_text *out, const struct diff_row *row)
{
	table_begin(&out->table);
	put_diff_cells(&out->table, row);
	for (unsigned k = 0; k < out->report->options->query.nr_keys; k++)
		report_columns_put(out->to, &out->keys, k, diff_cell(row, k));
	table_end(&out->table);
}

static void put_rest(struct diff_text *out)
{
	const struct report_options *options = out->report->options;
	size_t nr = 0, nr_clear = 0;
	double change = 0;

	for (size_t i = 0; i < out->diff->nr; i++) {
		if (is_shown(out, i))
			continue;
		nr++;
		nr_clear += diff_is_clear(&out->diff->rows[i]);
		change += out->diff->rows[i].change;
	}
	if (!nr || options->style.quiet)
		return;
	fputs(paint(options, DIM), out->to);
	table_begin(&out->table);
	table_amount(&out->table, change);
	fprintf(out->to, "  in %zu more row%s, ", nr, plural(nr));
	if (nr_clear)
		fprintf(out->to, "%zu beyond %s error", nr_clear, nr_clear == 1 ? "its" : "their");
	else
		fputs("within their errors", out->to);
	fprintf(out->to, "; --all shows them%s\n", paint(options, PLAIN));
}

static void put_table(void *arg, const struct diff *diff)
{
	struct diff_text *out = arg;
	const struct report_options *options = out->report->options;

	out->diff = diff;
	if (out->nr_tables++)
		fputc('\n', out->to);
	if (has_head(options))
		put_head(out);
	make_columns(out);
	measure(out);
	if (!options->style.quiet)
		put_titles(out);
	for (size_t i = 0; i < diff->nr; i++)
		if (is_shown(out, i))
			put_row(out, &diff->rows[i]);
	put_rest(out);
}

int report_diff_text(FILE *to, const struct diff_report *report)
{
	struct diff_text out = {.to = to, .report = report};

	if (has_head(report->options))
		put_runs(&out);
	return report_diff_walk(report, put_table, &out);
}
