#include "output/report.h"
#include "output/report_annotation.h"
#include "output/report_columns.h"
#include "output/report_counters.h"
#include "output/report_head.h"
#include "output/report_job.h"
#include "output/report_profile.h"
#include "output/report_rows.h"
#include "output/report_text.h"
#include "output/text.h"
#include "output/warnings.h"

#include <errno.h>
#include <stdlib.h>

/* One table on its way out. */
struct table_text {
	FILE *to;
	const struct report_options *options;
	const struct profile *profile;
	const struct report_rows *rows;
	uint32_t first, end;
	uint64_t whole; /* what 100 % is */
	struct report_columns columns;
	const struct counter_columns *counters;
};

/* --- tables ----------------------------------------------------------------------------------- */

static uint32_t rows_shown(const struct table_text *table)
{
	uint32_t nr = table->end - table->first;

	return nr < table->options->limit ? nr : table->options->limit;
}

static const struct profile_row *table_row(const struct table_text *table, uint32_t i)
{
	return &table->profile->rows[table->rows->rows[table->first + i]];
}

static void measure(struct table_text *table, char *text)
{
	const struct report_options *options = table->options;

	report_columns_init(&table->columns, options);
	for (unsigned k = 0; k < options->nr_keys; k++)
		for (uint32_t i = 0; i < rows_shown(table); i++)
			report_columns_note(&table->columns, k,
			                    report_cell(table->profile, table_row(table, i),
			                                options->keys[k], text));
	report_columns_fit(&table->columns, 38 + report_counters_width(table->counters));
}

static void put_titles(const struct table_text *table)
{
	const struct report_options *options = table->options;

	fprintf(table->to, "%s%8s %10s  %8s  %8s", paint(options, BOLD), "self", "± error", "total",
	        "samples");
	report_counters_titles(table->to, table->counters);
	report_columns_titles(table->to, &table->columns);
	fprintf(table->to, "%s\n", paint(options, PLAIN));
}

static void put_row(const struct table_text *table, const struct profile_row *row, char *text)
{
	fprintf(table->to, "%7.2f%% ±%7.2f%%  %7.2f%%  %8llu",
	        percent((double)row->self, table->whole),
	        percent_error(profile_error(row), table->whole),
	        percent((double)row->total, table->whole), (unsigned long long)row->samples);
	report_counters_values(
		table->to, table->counters,
		row->name == PROFILE_NONE ? NULL : profile_row_counts(table->profile, row)->self);
	for (unsigned k = 0; k < table->options->nr_keys; k++)
		report_columns_put(table->to, &table->columns, k,
		                   report_cell(table->profile, row, table->options->keys[k], text));
	fputc('\n', table->to);
}

static void put_rest(const struct table_text *table)
{
	uint32_t shown = rows_shown(table), nr = table->end - table->first - shown;
	uint64_t self = 0;

	if (!nr || table->options->quiet)
		return;
	for (uint32_t i = shown; i < table->end - table->first; i++)
		self += table_row(table, i)->self;
	fprintf(table->to, "%s%7.2f%%  in %u more row%s; --all shows them%s\n",
	        paint(table->options, DIM), percent((double)self, table->whole), nr,
	        nr == 1 ? "" : "s", paint(table->options, PLAIN));
}

static int put_table(struct table_text *table)
{
	char *text = malloc(CELL_SIZE);

	if (!text)
		return -ENOMEM;
	measure(table, text);
	if (!table->options->quiet)
		put_titles(table);
	for (uint32_t i = 0; i < rows_shown(table); i++)
		put_row(table, table_row(table, i), text);
	put_rest(table);
	free(text);
	return 0;
}

/* --- a table for every thread ----------------------------------------------------------------- */

static void put_thread_title(const struct table_text *table, char *text)
{
	const struct profile *profile = table->profile;
	const struct profile_row *row = table_row(table, 0);
	const struct profile_unsampled *unsampled = report_unsampled(profile, row);
	char weight[TEXT_SIZE];
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);

	text_quantity(weight, (double)table->whole, event->unit);
	fprintf(table->to, "%s%s", table->first ? "\n" : "", paint(table->options, BOLD));
	text_put(table->to, report_cell(profile, row, PROFILE_BY_THREAD, text), 0);
	fprintf(table->to, ": %.2f%%, %s%s%s%s\n", percent((double)table->whole, profile->total),
	        weight, unsampled ? " " : "", unsampled ? profile_unsampled_name(unsampled) : "",
	        paint(table->options, PLAIN));
}

/* "3 more threads, 1 more command": of what was not sampled only the command is known. */
static void put_hidden(const struct table_text *table, uint32_t nr_threads, uint32_t nr_commands)
{
	if (!nr_threads && !nr_commands)
		return;
	fputc('\n', table->to);
	if (nr_threads)
		fprintf(table->to, "%u more thread%s", nr_threads, nr_threads == 1 ? "" : "s");
	if (nr_commands)
		fprintf(table->to, "%s%u more command%s", nr_threads ? ", " : "", nr_commands,
		        nr_commands == 1 ? "" : "s");
	fputs("; --all shows them\n", table->to);
}

static int put_threads(struct table_text *table)
{
	uint32_t end = table->end, shown = 0, nr_hidden = 0, nr_commands = 0;
	char *text = malloc(CELL_SIZE);
	int err = text ? 0 : -ENOMEM;

	for (uint32_t next = 0; next < end && !err; next = table->end) {
		table->first = next;
		table->end = report_rows_class_end(table->rows, next);
		table->whole = report_rows_class_total(table->rows, next);
		if (shown++ >= table->options->limit) {
			nr_commands += table_row(table, 0)->name == PROFILE_NONE;
			nr_hidden++;
			continue;
		}
		put_thread_title(table, text);
		if (table_row(table, 0)->name != PROFILE_NONE)
			err = put_table(table);
	}
	if (!table->options->quiet)
		put_hidden(table, nr_hidden - nr_commands, nr_commands);
	free(text);
	return err;
}

static int put_tables(FILE *to, const struct profile *profile, const struct report_options *options)
{
	struct report_rows rows;
	struct counter_columns counters;
	int err = report_rows_init(&rows, profile, options);
	struct table_text table = {
		.to = to,
		.options = options,
		.profile = profile,
		.rows = &rows,
		.end = rows.nr,
		.whole = profile->total,
		.counters = &counters,
	};

	if (err)
		return err;
	counter_columns_init(&counters, profile->trace, profile->config.event);
	err = options->per_thread ? put_threads(&table) : put_table(&table);
	report_rows_fini(&rows);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

void report_warning_text(void *arg, const char *text)
{
	const struct warning_text *warning = arg;

	fprintf(warning->to, "%swarning: ", paint(warning->options, AMBER));
	if (warning->of) {
		text_put(warning->to, warning->of, 0);
		fputs(": ", warning->to);
	}
	text_put(warning->to, text, 0);
	fprintf(warning->to, "%s\n", paint(warning->options, PLAIN));
}

static int put_profile(FILE *to, const struct profile *profile,
                       const struct report_options *options, const struct profile_view *view)
{
	if (options->annotate)
		return report_annotation_text(to, profile, options);
	if (options->tree || options->direction != PROFILE_ALL)
		return report_text_tree(to, profile, options, view);
	return put_tables(to, profile, options);
}

static int put_event(FILE *to, const struct trace *trace, uint32_t event,
                     const struct report_options *options)
{
	struct profile *profile;
	struct profile_view view;
	struct warning_text warning = {.to = to, .options = options};
	int err = 0;

	profile = report_profile(trace, event, options, &view);
	if (!profile)
		return -errno;
	if (!options->quiet && !options->no_header) {
		report_head_event(to, trace, event);
		err = report_head_part(to, trace, options, profile->samples);
		warnings_of_profile(profile, report_warning_text, &warning);
		fputc('\n', to);
	}
	if (!err)
		err = put_profile(to, profile, options, &view);
	profile_free(profile);
	return err;
}

int report_text(FILE *to, const struct trace *trace, const char *name,
                const struct report_options *options)
{
	struct warning_text warning = {.to = to, .options = options};
	int err = 0;

	if (!options->quiet && !options->no_header) {
		report_head_run(to, trace, name);
		warnings_of_run(trace, report_warning_text, &warning);
	}
	for (uint32_t i = 0; trace_event(trace, i) && !err; i++) {
		if (options->event != TRACE_ALL_EVENTS && options->event != i)
			continue;
		if (i && options->event == TRACE_ALL_EVENTS)
			fputc('\n', to);
		err = put_event(to, trace, i, options);
	}
	/* Of a table alone: what is asked for with more words is all that is wanted. */
	if (!err && !options->quiet && !options->no_header && !options->tree &&
	    !options->per_thread && !options->annotate && options->direction == PROFILE_ALL)
		err = report_calls_text(to, trace, options);
	return err;
}
