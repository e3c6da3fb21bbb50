#include "trace/rank_rows.h"
#include "output/report/report.h"
#include "output/report/function_table.h"
#include "output/report/report_annotation.h"
#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/views/job.h"
#include "output/views/report_rows.h"
#include "output/report/report_text.h"
#include "output/profile/warnings.h"

#include <errno.h>
#include <stdlib.h>

/* One table on its way out. */
struct functions_text {
	FILE *to;
	const struct report_options *options;
	const struct profile *profile;
	struct report_rows *rows;
	uint64_t whole; /* what 100 % is */
	struct report_columns columns;
	const struct counter_columns *counters;
	struct rank_rows ranks; /* of tables for every thread */
};

void report_text_more(FILE *to, const struct report_options *options, uint64_t nr, const char *what)
{
	if (nr && !options->style.quiet)
		fprintf(to, "%llu more %s%s; --all shows them\n", (unsigned long long)nr, what,
		        plural(nr));
}

void report_text_rest(FILE *to, const struct report_options *options, uint64_t nr, const char *what)
{
	if (nr > options->query.limit)
		report_text_more(to, options, nr - options->query.limit, what);
}

/* --- tables ----------------------------------------------------------------------------------- */

static struct profile_row table_row(const struct functions_text *table, uint32_t i)
{
	return report_row(table->profile, &table->rows->rows[i]);
}

static void measure(struct functions_text *table, unsigned used, char *text)
{
	const struct report_options *options = table->options;

	report_columns_init(&table->columns, options);
	for (unsigned k = 0; k < options->query.nr_keys; k++) {
		for (uint32_t i = 0; i < table->rows->nr; i++) {
			const struct profile_row row = table_row(table, i);

			report_columns_note(
				&table->columns, k,
				report_cell(table->profile, &row, options->query.keys[k], text));
		}
	}
	report_columns_fit(&table->columns, used + report_counters_width(table->counters));
}

static enum trace_unit unit_of(const struct functions_text *table)
{
	return trace_event(table->profile->trace, table->profile->config.event)->unit;
}

static void put_titles(const struct functions_text *out, struct table *table)
{
	const struct report_options *options = out->options;

	fputs(paint(options, BOLD), out->to);
	table_titles(table);
	report_counters_titles(out->to, out->counters);
	report_columns_titles(out->to, &out->columns);
	fprintf(out->to, "%s\n", paint(options, PLAIN));
}

static void put_row(const struct functions_text *out, struct table *table, uint32_t i, char *text)
{
	const struct subset_row *of = &out->rows->rows[i];
	const struct profile_row row = table_row(out, i);
	const struct view_query *query = &out->options->query;

	table_begin(table);
	put_function_cells(table, out->profile, of, out->whole);
	report_counters_values(
		out->to, out->counters,
		row.name == PROFILE_NONE
			? NULL
			: profile_counts_of(&out->profile->row_counts, of->row)->self);
	for (unsigned k = 0; k < query->nr_keys; k++)
		report_columns_put(out->to, &out->columns, k,
		                   report_cell(out->profile, &row, query->keys[k], text));
	table_end(table);
}

static void put_rest(const struct functions_text *table)
{
	uint32_t nr = table->rows->nr_more, nr_folded = table->rows->nr_folded;

	if (!nr || table->options->style.quiet)
		return;
	fprintf(table->to, "%s%6.2f%%  in %u more row%s", paint(table->options, DIM),
	        percent((double)table->rows->self_more, table->whole), nr, plural(nr));
	if (nr_folded == nr)
		fprintf(table->to, " within %s", nr == 1 ? "its error" : "their errors");
	else if (nr_folded)
		fprintf(table->to, ", %u of them within %s", nr_folded,
		        nr_folded == 1 ? "its error" : "their errors");
	fprintf(table->to, "; --all shows them%s\n", paint(table->options, PLAIN));
}

static int put_table(struct functions_text *out)
{
	struct table table = {.columns = function_columns, .unit = unit_of(out), .to = out->to};
	char *text = malloc(CELL_SIZE);

	if (!text)
		return -ENOMEM;
	measure(out, table_width(&table), text);
	if (!out->options->style.quiet)
		put_titles(out, &table);
	for (uint32_t i = 0; i < out->rows->nr; i++)
		put_row(out, &table, i, text);
	put_rest(out);
	free(text);
	return 0;
}

/* --- a table for every thread ----------------------------------------------------------------- */

static void put_thread_title(const struct functions_text *table, uint32_t subset, bool first,
                             char *text)
{
	const struct profile *profile = table->profile;
	const struct profile_unsampled *unsampled = report_unsampled(profile, subset);
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	const struct profile_row row = {.subset = subset, .name = unsampled ? PROFILE_NONE : 0};
	uint32_t rank = rank_row(&table->ranks, profile->subsets[subset].thread);
	char weight[TEXT_SIZE];

	text_quantity(weight, (double)table->whole, event->unit);
	fprintf(table->to, "%s%s", first ? "" : "\n", paint(table->options, BOLD));
	text_put(table->to, report_cell(profile, &row, PROFILE_BY_THREAD, text), 0);
	if (rank != RANK_NONE)
		fprintf(table->to, ", rank %d", table->ranks.rows[rank].rank);
	fprintf(table->to, ": %.2f%%, %s%s%s%s\n", percent((double)table->whole, profile->total),
	        weight, unsampled ? " " : "", unsampled ? profile_unsampled_name(unsampled) : "",
	        paint(table->options, PLAIN));
}

/* "3 more threads, 1 more command": of what was not sampled only the command is known. */
static void put_hidden(const struct functions_text *table, uint32_t nr_threads,
                       uint32_t nr_commands)
{
	if (!nr_threads && !nr_commands)
		return;
	fputc('\n', table->to);
	if (nr_threads)
		fprintf(table->to, "%u more thread%s", nr_threads, plural(nr_threads));
	if (nr_commands)
		fprintf(table->to, "%s%u more command%s", nr_threads ? ", " : "", nr_commands,
		        plural(nr_commands));
	fputs("; --all shows them\n", table->to);
}

static int put_thread(struct functions_text *table, uint32_t subset, bool first, char *text)
{
	int err = 0;

	put_thread_title(table, subset, first, text);
	if (report_unsampled(table->profile, subset))
		return 0;
	err = report_rows_of_subset(table->rows, subset);
	return err ? err : put_table(table);
}

static int put_threads(struct functions_text *table)
{
	const struct profile *profile = table->profile;
	uint32_t shown = 0, nr_hidden = 0, nr_commands = 0;
	uint32_t *order = report_subsets(profile);
	char *text = malloc(CELL_SIZE);
	int err = rank_rows_init(&table->ranks, profile->trace);

	if (!text || !order)
		err = -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_subsets && !err; i++) {
		table->whole = report_subset_whole(profile, order[i]);
		if (!table->whole)
			continue;
		if (shown++ < table->options->query.limit) {
			err = put_thread(table, order[i], shown == 1, text);
			continue;
		}
		nr_commands += report_unsampled(profile, order[i]) != NULL;
		nr_hidden++;
	}
	if (!table->options->style.quiet && !err)
		put_hidden(table, nr_hidden - nr_commands, nr_commands);
	rank_rows_fini(&table->ranks);
	free(order);
	free(text);
	return err;
}

static int put_all(struct functions_text *table)
{
	int err = report_rows_of_all(table->rows);

	return err ? err : put_table(table);
}

static int put_tables(FILE *to, const struct profile *profile, const struct report_options *options)
{
	struct report_rows rows;
	struct counter_columns counters;
	int err = report_rows_init(&rows, profile, &options->query);
	struct functions_text table = {
		.to = to,
		.options = options,
		.profile = profile,
		.rows = &rows,
		.whole = profile->total,
		.counters = &counters,
	};

	counter_columns_init(&counters, profile->trace, profile->config.event);
	if (!err)
		err = options->query.per_thread ? put_threads(&table) : put_all(&table);
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
	if (options->query.annotate)
		return report_annotation_text(to, profile, options);
	if (query_has_trees(&options->query))
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

	profile = report_profile(trace, event, &options->query, &view);
	if (!profile)
		return -errno;
	if (has_head(options)) {
		const struct event_amount amount = event_amount_of(profile);

		report_head_event(to, &amount);
		err = report_head_part(to, &amount);
		if (query_has_trees(&options->query))
			warnings_of_callers(trace, report_warning_text, &warning);
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

	if (has_head(options)) {
		report_head_run(to, trace, name);
		warnings_of_run(trace, options->query.selection, report_warning_text, &warning);
	}
	for (uint32_t i = 0; trace_event(trace, i) && !err; i++) {
		if (options->query.event != TRACE_ALL_EVENTS && options->query.event != i)
			continue;
		if (i && options->query.event == TRACE_ALL_EVENTS)
			fputc('\n', to);
		err = put_event(to, trace, i, options);
	}
	/*
	 * Calls follow a table only. A user who asked for trees, threads or code gets nothing else.
	 */
	if (!err && job_has_calls(trace, &options->query) && has_head(options) &&
	    !options->query.tree && !options->query.per_thread && !options->query.annotate &&
	    options->query.direction == PROFILE_ALL)
		err = report_calls_text(to, trace, options);
	return err;
}
