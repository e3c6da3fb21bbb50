#include "output/report/report_fold.h"

#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/report/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LINE_CELLS  40
#define LEAST_SHARE 0.005 /* of a row, if not all are wanted */
#define MOST_TOTAL  0.995 /* of a total that tells more than that the program ran */
#define LINE_SIZE   (3 * LINE_CELLS + 3)

/* --- counters -----------------------------------------------------------------------------------
 */

void fold_columns_init(struct fold_columns *columns, const struct fold *fold)
{
	counter_columns_init(&columns->of, fold->trace, fold->event);
	columns->nr = fold->counters.nr_counters ? fold->counters.nr_counters - 1 : 0;
	if (columns->nr > columns->of.nr_sums)
		columns->nr = columns->of.nr_sums;
}

const char *fold_rates(struct fold *fold, const struct fold_columns *columns, unsigned n,
                       struct fold_band *rates, bool *known)
{
	const struct counter_column *column = &columns->of.columns[n];

	/* The event itself is the first of the counters that samples have. */
	*known = column->state != COUNTER_NEVER &&
	         fold_counters_solve(&fold->counters, n + 1, rates);
	for (unsigned i = 0; i < fold->nr_bins && *known; i++) {
		rates->value[i] *= column->factor;
		rates->low[i] *= column->factor;
		rates->high[i] *= column->factor;
	}
	return column->title;
}

/* --- text ---------------------------------------------------------------------------------------
 */

static const struct column function_columns[] = {
	{"share", NULL, COLUMN_SHARE, 9},
	{"least", NULL, COLUMN_SHARE, 9},
	{"most", NULL, COLUMN_SHARE, 9},
	{"begin                                end", NULL, COLUMN_NAME, LINE_CELLS + 2},
	{"function", NULL, COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

static const struct column total_columns[] = {
	{"total", NULL, COLUMN_SHARE, 9},
	{"least", NULL, COLUMN_SHARE, 9},
	{"most", NULL, COLUMN_SHARE, 9},
	{"begin                                end", NULL, COLUMN_NAME, LINE_CELLS + 2},
	{"function, with what it called", NULL, COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

static const struct column counter_columns[] = {
	{"a second", NULL, COLUMN_AMOUNT, 9},
	{"least", NULL, COLUMN_AMOUNT, 9},
	{"most", NULL, COLUMN_AMOUNT, 9},
	{"begin                                end", NULL, COLUMN_NAME, LINE_CELLS + 2},
	{"counter", NULL, COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

/* Draws values from 0 to the largest of them. */
static void draw_line(char line[LINE_SIZE], const double *values, unsigned nr, double most)
{
	char *at = stpcpy(line, "|");

	for (unsigned i = 0; i < LINE_CELLS; i++) {
		double value = values[i * nr / LINE_CELLS];
		double part = most > 0 && value > 0 ? value / most : 0;

		at = stpcpy(at, text_bar(part < 1 ? (unsigned)ceil(part * 8) : 8));
	}
	stpcpy(at, "|");
}

static void put_function(struct table *table, const struct fold *fold,
                         const struct fold_function *function, const char *name)
{
	unsigned at_least = 0, at_most = 0;
	struct fold_band shares;
	char line[LINE_SIZE];
	double most = 0;

	fold_shares(fold, function, &shares);
	for (unsigned i = 0; i < fold->nr_bins; i++) {
		const double value = shares.value[i];

		if (value > shares.value[at_most] || isnan(shares.value[at_most]))
			at_most = i;
		if (value < shares.value[at_least] || isnan(shares.value[at_least]))
			at_least = i;
		most = fmax(most, value);
	}
	draw_line(line, shares.value, fold->nr_bins, most);
	table_begin(table);
	table_share(table, function->samples, fold->samples);
	table_share(table, function->in_bins[at_least], fold->in_bins[at_least]);
	table_share(table, function->in_bins[at_most], fold->in_bins[at_most]);
	table_text(table, line);
	if (table_skip(table)) {
		fputs("  ", table->to);
		text_put(table->to, name, 0);
	}
	table_end(table);
}

static double widest_band(const struct fold *fold)
{
	struct fold_band shares;
	double widest = 0;

	for (uint32_t f = 0; f < fold->nr_functions; f++) {
		fold_shares(fold, &fold->functions[f], &shares);
		for (unsigned i = 0; i < fold->nr_bins; i++)
			widest = fmax(widest, (shares.high[i] - shares.low[i]) / 2);
	}
	return widest;
}

static void put_head(FILE *to, const struct fold *fold, const char *name,
                     const struct report_options *options)
{
	struct event_amount amount = {
		.trace = fold->trace,
		.event = fold->event,
		.selection = fold->selection,
		.samples = fold->selected,
	};
	struct warning_text warning = {to, options, NULL};
	char median[TEXT_SIZE];

	if (!has_head(options))
		return;
	report_head_run(to, fold->trace, name);
	report_head_part(to, &amount);
	if (!fold_is_even(fold))
		report_warning_text(
			&warning,
			"samples are not spread evenly over the iteration, and shares may be "
			"wrong: its steps may keep time with the sampling period");
	if (fold->folded < fold->seen / 2)
		report_warning_text(
			&warning,
			"less than half of the iterations are alike and about as long as "
			"most: others were disturbed, as where there are fewer CPUs than threads, "
			"or do other work, as those of another loop of adaptrace report "
			"--iterations may not");
	text_quantity(median, (double)fold->processes[0].median, TRACE_NS);
	fprintf(to,
	        "\n%sone iteration of loop %" PRIu32 " (%s)%s: %" PRIu64 " of %" PRIu64
	        " iterations, which are alike%s\n",
	        paint(options, BOLD), fold->phase, median, paint(options, PLAIN), fold->folded,
	        fold->seen, fold->nr_processes > 1 ? ", of all ranks" : "");
	fprintf(to, "%" PRIu64 " samples in %u bin%s%s; shares of a bin are known to ± %.1f %%\n\n",
	        fold->samples, fold->nr_bins, plural(fold->nr_bins),
	        fold->nr_bins == 1 ? ", as they are too few for two" : "", 100 * widest_band(fold));
}

static void put_functions(FILE *to, const struct fold *fold, const struct report_options *options)
{
	struct table table = {.columns = function_columns, .to = to};
	bool all = options->query.limit == UINT32_MAX;
	uint32_t nr = fold_nr_functions(fold, all ? 0 : LEAST_SHARE);
	char text[FRAME_TEXT_SIZE];

	nr = nr < options->query.limit ? nr : options->query.limit;
	if (!options->style.quiet) {
		table_titles(&table);
		fputc('\n', to);
	}
	for (uint32_t i = 0; i < nr; i++)
		put_function(&table, fold, &fold->functions[i],
		             paths_function(&fold->paths, fold->functions[i].function, text));
	report_text_more(to, options, fold->nr_functions - nr, "function");
}

static uint64_t samples_itself(const struct fold *fold, uint32_t function)
{
	for (uint32_t i = 0; i < fold->nr_functions; i++)
		if (fold->functions[i].function == function)
			return fold->functions[i].samples;
	return 0;
}

/* Whether a total says more than the function itself does, and more than that the program ran. */
static bool is_telling(const struct fold *fold, const struct fold_function *total)
{
	return (double)total->samples < MOST_TOTAL * (double)fold->samples &&
	       total->samples > samples_itself(fold, total->function);
}

static void put_totals(FILE *to, const struct fold *fold, const struct report_options *options)
{
	struct table table = {.columns = total_columns, .to = to};
	bool all = options->query.limit == UINT32_MAX;
	double least = all ? 0 : LEAST_SHARE * (double)fold->samples;
	char text[FRAME_TEXT_SIZE];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < fold->nr_totals && nr < options->query.limit; i++) {
		const struct fold_function *total = &fold->totals[i];

		if ((double)total->samples < least || !is_telling(fold, total))
			continue;
		if (!nr++ && !options->style.quiet) {
			fputc('\n', to);
			table_titles(&table);
			fputc('\n', to);
		}
		put_function(&table, fold, total,
		             paths_function(&fold->paths, total->function, text));
	}
}

static void put_counter(struct table *table, const struct fold *fold, const char *name,
                        const struct fold_band *rates)
{
	double least = INFINITY, most = 0, sum = 0;
	char line[LINE_SIZE];

	for (unsigned i = 0; i < fold->nr_bins; i++) {
		least = fmin(least, rates->value[i]);
		most = fmax(most, rates->value[i]);
		sum += rates->value[i];
	}
	draw_line(line, rates->value, fold->nr_bins, most);
	table_begin(table);
	table_amount(table, sum / fold->nr_bins);
	table_amount(table, fmax(least, 0));
	table_amount(table, most);
	table_text(table, line);
	table_text(table, name);
	table_end(table);
}

static void put_counters(FILE *to, struct fold *fold, const struct report_options *options)
{
	struct table table = {.columns = counter_columns, .to = to, .unit = TRACE_COUNT};
	struct fold_band rates;
	struct fold_columns columns;
	bool known;

	fold_columns_init(&columns, fold);
	if (columns.nr && !options->style.quiet) {
		fputc('\n', to);
		table_titles(&table);
		fputc('\n', to);
	}
	for (unsigned i = 0; i < columns.nr; i++) {
		const char *name = fold_rates(fold, &columns, i, &rates, &known);

		if (known)
			put_counter(&table, fold, name, &rates);
		else if (!options->style.quiet)
			fprintf(to, "too few samples tell the rate of %s in %u bins\n", name,
			        fold->nr_bins);
	}
}

int report_fold_text(FILE *to, const struct trace *trace, const char *name,
                     const struct report_options *options)
{
	struct fold fold;
	int err = fold_init(&fold, trace, &options->query);

	if (!err) {
		put_head(to, &fold, name, options);
		put_functions(to, &fold, options);
		put_totals(to, &fold, options);
		put_counters(to, &fold, options);
	}
	fold_fini(&fold);
	return err;
}

/* --- JSON ---------------------------------------------------------------------------------------
 */

static void put_bins(struct json_writer *json, const char *key, const double *values, unsigned nr)
{
	json_begin_list(json, key);
	for (unsigned i = 0; i < nr; i++)
		json_real(json, NULL, values[i]);
	json_end_list(json);
}

/* band NULL: null. */
static void put_band(struct json_writer *json, const char *key, const struct fold_band *band,
                     unsigned nr)
{
	if (band) {
		put_bins(json, key, band->value, nr);
		put_bins(json, "low", band->low, nr);
		put_bins(json, "high", band->high, nr);
	} else {
		json_null(json, key);
		json_null(json, "low");
		json_null(json, "high");
	}
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void put_json_functions(struct json_writer *json, const char *key, const struct fold *fold,
                               const struct fold_function *functions, uint32_t nr)
{
	struct fold_band shares;
	char text[FRAME_TEXT_SIZE];

	json_begin_list(json, key);
	for (uint32_t i = 0; i < nr; i++) {
		const struct fold_function *function = &functions[i];

		json_begin(json, NULL);
		json_text(json, "symbol", paths_function(&fold->paths, function->function, text));
		json_text(json, "module", paths_module(&fold->paths, function->function));
		json_number(json, "samples", function->samples);
		fold_shares(fold, function, &shares);
		put_band(json, "share", &shares, fold->nr_bins);
		json_end(json);
	}
	json_end_list(json);
}

static void put_json_counters(struct json_writer *json, struct fold *fold)
{
	struct fold_band rates;
	struct fold_columns columns;
	bool known;

	fold_columns_init(&columns, fold);
	json_begin_list(json, "counters");
	for (unsigned i = 0; i < columns.nr; i++) {
		const char *name = fold_rates(fold, &columns, i, &rates, &known);

		json_begin(json, NULL);
		json_text(json, "name", name);
		put_band(json, "rate", known ? &rates : NULL, fold->nr_bins);
		json_end(json);
	}
	json_end_list(json);
}

int report_fold_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct fold fold;
	int err = fold_init(&fold, trace, query);

	if (!err) {
		json_begin(&json, NULL);
		json_number(&json, "phase", fold.phase);
		json_number(&json, "processes", fold.nr_processes);
		json_number(&json, "iterations", fold.folded);
		json_number(&json, "iterations_seen", fold.seen);
		json_number(&json, "median_ns", fold.processes[0].median);
		json_number(&json, "samples", fold.samples);
		json_number(&json, "bins", fold.nr_bins);
		json_flag(&json, "even", fold_is_even(&fold));
		put_json_functions(&json, "functions", &fold, fold.functions,
		                   smaller(fold.nr_functions, query->limit));
		put_json_functions(&json, "totals", &fold, fold.totals,
		                   smaller(fold.nr_totals, query->limit));
		put_json_counters(&json, &fold);
		json_end(&json);
		fputc('\n', to);
	}
	fold_fini(&fold);
	return err;
}
