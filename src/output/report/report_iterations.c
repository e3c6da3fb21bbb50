#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/report/table.h"
#include "output/views/iterations.h"

#include <inttypes.h>

static const struct column columns[] = {
	{"phase", "phase", COLUMN_COUNT, 5},
	{"rank", "rank", COLUMN_COUNT, 6},
	{NULL, "process", COLUMN_COUNT, 0},
	{"thread", "thread", COLUMN_COUNT, 8},
	{"loop", NULL, COLUMN_NAME, 7},
	{NULL, "level", COLUMN_COUNT, 0},
	{"calls", "period_calls", COLUMN_COUNT, 7},
	{"iterations", "iterations", COLUMN_COUNT, 10},
	{"stored", "stored", COLUMN_COUNT, 7},
	{"kinds", "kinds", COLUMN_COUNT, 5},
	{"slow", "slow", COLUMN_COUNT, 7},
	{"least", NULL, COLUMN_TIME, 10},
	{"mean", NULL, COLUMN_TIME, 10},
	{"median", NULL, COLUMN_TIME, 10},
	{"p99", NULL, COLUMN_TIME, 10},
	{"most", NULL, COLUMN_TIME, 10},
	{"from", "from_ns", COLUMN_TIME, 10},
	{"to", "to_ns", COLUMN_TIME, 10},
	{NULL, NULL, COLUMN_END, 0},
};

static const char *const spare_columns[] = {
	"stored", "from", "to", "least", "thread", "kinds", "calls", "p99", NULL,
};

struct page {
	const struct trace *trace;
	struct iterations of;
};

/* "steps" is what the unit is taken for; of loops in it and around it the level is shown. */
static const char *loop_text(const struct iteration_phase *phase)
{
	static const char *const levels[] = {"level 0", "level 1", "level 2"};

	return phase->unit ? "steps" : levels[phase->level];
}

static void put_row(struct table *table, const struct page *page, uint32_t number)
{
	const struct iteration_phase *phase = page->of.phases[number];
	const struct trace_thread *thread = trace_thread(page->trace, phase->thread);
	const struct trace_run *run = trace_run(page->trace);
	const struct durations *durations = &phase->durations;

	table_begin(table);
	table_number(table, number + 1);
	table_known(table, phase->rank >= 0, (uint64_t)phase->rank);
	table_int(table, thread ? thread->pid : 0);
	table_int(table, thread ? thread->tid : 0);
	table_text(table, loop_text(phase));
	table_number(table, phase->level);
	table_number(table, iteration_calls(phase));
	table_number(table, durations->nr);
	table_number(table, durations->nr - phase->not_stored);
	table_number(table, iteration_patterns(phase));
	table_number(table, iteration_slow(phase));
	table_number(table, durations->least);
	table_real(table, (double)durations->sum / (double)durations->nr);
	table_number(table, durations_quantile(durations, 0.5));
	table_number(table, durations_quantile(durations, 0.99));
	table_number(table, durations->most);
	table_number(table, trace_since_start(run, phase->from));
	table_number(table, trace_since_start(run, phase->to));
}

/* --- text ---------------------------------------------------------------------------------------
 */

static double bin_mean(const struct iteration_phase *phase, unsigned bin)
{
	return (double)phase->line[bin].sum / (double)phase->line[bin].nr;
}

static double longest_mean(const struct iteration_phase *phase)
{
	double most = 0;

	for (unsigned i = 0; i < ITERATION_BINS; i++)
		if (phase->line[i].nr && bin_mean(phase, i) > most)
			most = bin_mean(phase, i);
	return most;
}

/* The mean duration over the run, from 0 to the longest mean. */
static void put_line(FILE *to, const struct iteration_phase *phase)
{
	double most = longest_mean(phase);
	char text[TEXT_SIZE];

	fputs("                |", to);
	for (unsigned i = 0; i < ITERATION_BINS; i++) {
		double share = phase->line[i].nr && most > 0 ? bin_mean(phase, i) / most : 0;

		fputs(text_bar(phase->line[i].nr ? 1 + (unsigned)(share * 8) : 0), to);
	}
	text_quantity(text, most, TRACE_NS);
	fprintf(to, "| at most %s\n", text);
}

static void put_offset(FILE *to, const struct page *page, uint64_t time)
{
	char text[TEXT_SIZE];

	text_quantity(text, (double)trace_since_start(trace_run(page->trace), time), TRACE_NS);
	fputs(text, to);
}

static void put_completeness(FILE *to, const struct page *page)
{
	const struct iterations *of = &page->of;

	if (of->stored >= of->seen)
		return;
	fprintf(to, "%" PRIu64 " of %" PRIu64 " calls seen are stored; ", of->stored, of->seen);
	if (of->recorded) {
		fputs("iterations are those that the program itself found while it ran\n", to);
		return;
	}
	if (of->to <= of->from) {
		fputs("there is no time in which all are, so that iterations cannot be told\n", to);
		return;
	}
	if (!of->from && of->to == UINT64_MAX) {
		fputs("iterations are found in these\n", to);
		return;
	}
	fputs("iterations are those from ", to);
	put_offset(to, page, of->from);
	fputs(" to ", to);
	put_offset(to, page, of->to);
	fputs(", where all are\n", to);
}

static void put_head(FILE *to, const struct page *page, const char *name,
                     const struct report_options *options)
{
	if (!has_head(options))
		return;
	report_head_run(to, page->trace, name);
	report_head_calls_part(to, page->trace, options->query.selection);
	put_completeness(to, page);
	if (page->of.recorded)
		fprintf(to,
		        "\n%siterations of loops: their calls and times, and the mean time over "
		        "the "
		        "run%s\n\n",
		        paint(options, BOLD), paint(options, PLAIN));
	else if (page->of.nr)
		fprintf(to,
		        "\n%siterations of loops, from %" PRIu64
		        " calls: how many there are, their calls and times, and the "
		        "mean time over the run%s\n\n",
		        paint(options, BOLD), page->of.calls, paint(options, PLAIN));
	else
		fprintf(to, "\n%" PRIu64 " call%s, and no loop found in them\n", page->of.calls,
		        plural(page->of.calls));
}

static void put_table(FILE *to, const struct page *page, const struct report_options *options)
{
	struct table table = {.columns = columns, .to = to};
	uint64_t nr = page->of.nr;

	if (options->style.width)
		table_fit(&table, spare_columns, options->style.width);
	if (!options->style.quiet && nr) {
		table_titles(&table);
		fputc('\n', to);
	}
	for (uint32_t i = 0; i < page->of.nr && i < options->query.limit; i++) {
		put_row(&table, page, i);
		table_end(&table);
		if (!options->style.quiet && page->of.phases[i]->unit)
			put_line(to, page->of.phases[i]);
	}
	report_text_rest(to, options, nr, "phase");
	if (page->of.left_out && !options->style.quiet)
		fprintf(to, "%" PRIu64 " more phase%s found no room\n", page->of.left_out,
		        plural(page->of.left_out));
}

int report_iterations_text(FILE *to, const struct trace *trace, const char *name,
                           const struct report_options *options)
{
	struct page page = {.trace = trace};
	int err = iterations_init(&page.of, trace, &options->query);

	if (!err) {
		put_head(to, &page, name, options);
		put_table(to, &page, options);
	}
	iterations_fini(&page.of);
	return err;
}

/* --- JSON ---------------------------------------------------------------------------------------
 */

static void put_durations(struct json_writer *json, const struct durations *durations)
{
	json_begin(json, "duration_ns");
	json_number(json, "min", durations->least);
	json_real(json, "mean", (double)durations->sum / (double)durations->nr);
	json_number(json, "median", durations_quantile(durations, 0.5));
	json_number(json, "p99", durations_quantile(durations, 0.99));
	json_number(json, "max", durations->most);
	json_end(json);
}

static void put_phase(struct table *table, const struct page *page, uint32_t number)
{
	const struct iteration_phase *phase = page->of.phases[number];

	put_row(table, page, number);
	json_flag(table->json, "unit", phase->unit);
	json_number(table->json, "first", phase->first_ordinal);
	json_number(table->json, "last", phase->last_ordinal);
	put_durations(table->json, &phase->durations);
	json_begin_list(table->json, "means_ns");
	for (unsigned i = 0; i < ITERATION_BINS; i++)
		json_known(table->json, NULL, phase->line[i].nr,
		           phase->line[i].nr ? phase->line[i].sum / phase->line[i].nr : 0);
	json_end_list(table->json);
	table_end(table);
}

static void put_calls(struct json_writer *json, const struct page *page)
{
	const struct trace_run *run = trace_run(page->trace);
	bool whole = !page->of.from && page->of.to == UINT64_MAX;
	bool known = !whole && page->of.to > page->of.from;

	json_begin(json, "calls");
	json_number(json, "seen", page->of.seen);
	json_number(json, "stored", page->of.stored);
	json_number(json, "used", page->of.calls);
	json_known(json, "complete_from_ns", known, trace_since_start(run, page->of.from));
	json_known(json, "complete_to_ns", known, trace_since_start(run, page->of.to));
	json_end(json);
}

int report_iterations_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct table table = {.columns = columns, .json = &json};
	struct page page = {.trace = trace};
	int err = iterations_init(&page.of, trace, query);

	if (!err) {
		json_begin(&json, NULL);
		put_calls(&json, &page);
		json_begin_list(&json, "phases");
		for (uint32_t i = 0; i < page.of.nr && i < query->limit; i++)
			put_phase(&table, &page, i);
		json_end_list(&json);
		json_number(&json, "phases_left_out", page.of.left_out);
		json_end(&json);
		fputc('\n', to);
	}
	iterations_fini(&page.of);
	return err;
}
