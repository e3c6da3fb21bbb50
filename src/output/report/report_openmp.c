/* report --openmp: parallel regions and what their threads waited for. */
#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/report/table.h"
#include "output/views/openmp_samples.h"

#include <inttypes.h>

#define MAX_NAME 1024

static const struct column columns[] = {
	{"count", "count", COLUMN_COUNT, 9},
	{"threads", "threads", COLUMN_COUNT, 8},
	{"time", "time_ns", COLUMN_TIME, 10},
	{"idle", "idle_ns", COLUMN_TIME, 10},
	{"barrier", "barrier_wait_ns", COLUMN_TIME, 10},
	{"critical", "critical_wait_ns", COLUMN_TIME, 10},
	{"sampled", "weight", COLUMN_SHARE, 8},
	{NULL, "work_ns", COLUMN_TIME, 0},
	{NULL, "imbalance", COLUMN_REAL, 0},
	{NULL, NULL, COLUMN_END, 0},
};

static const struct column function_columns[] = {
	{"sampled", "weight", COLUMN_SHARE, 8},
	{"samples", "samples", COLUMN_COUNT, 9},
	{NULL, NULL, COLUMN_END, 0},
};

/* The regions of a trace, and the samples in them. */
struct regions {
	const struct trace *trace;
	struct openmp openmp;
	struct openmp_samples samples;
};

static int regions_init(struct regions *regions, const struct trace *trace,
                        const struct view_query *query)
{
	int err;

	*regions = (struct regions){.trace = trace};
	err = openmp_init(&regions->openmp, trace);
	return err ? err : openmp_samples_init(&regions->samples, trace, &regions->openmp, query);
}

static void regions_fini(struct regions *regions)
{
	openmp_samples_fini(&regions->samples);
	openmp_fini(&regions->openmp);
}

static const char *name_of(const struct trace *trace, const struct openmp_row *row)
{
	const struct trace_region *region = trace_region(trace, row->region);

	return region ? trace_string(trace, region->name) : "?";
}

static void put_row(struct table *table, const struct regions *regions, uint32_t i)
{
	const struct trace_openmp *sum = &regions->openmp.rows[i].sum;

	table_number(table, sum->count);
	table_number(table, sum->most_threads);
	table_number(table, sum->time);
	table_number(table, sum->idle);
	table_number(table, sum->barrier_wait);
	table_number(table, sum->critical_wait);
	table_share(table, regions->samples.in_rows[i], regions->samples.total);
	table_number(table, sum->work);
	table_real(table, openmp_imbalance(sum));
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_time(FILE *to, const char *what, uint64_t time)
{
	char text[TEXT_SIZE];

	text_quantity(text, (double)time, TRACE_NS);
	fprintf(to, "%s%s", what, text);
}

static void put_head(FILE *to, const struct trace *trace, const struct openmp *openmp,
                     const char *name, const struct report_options *options)
{
	if (!has_head(options))
		return;
	report_head_run(to, trace, name);
	put_time(to, "of ", openmp->life);
	if (openmp->nr_processes > 1)
		fprintf(to, " of %" PRIu32 " processes", openmp->nr_processes);
	put_time(to, ", serial: ", openmp_serial(openmp));
	put_time(to, ", in parallel regions: ", openmp->covered);
	put_time(to, "\nall threads in regions: work ", openmp->work);
	put_time(to, ", idle at the end ", openmp->idle);
	put_time(to, ",\n    waiting at barriers ", openmp->barrier);
	put_time(to, ", for critical sections ", openmp->critical);
	fprintf(to, "\n\n%sparallel regions, idle time and waits of all their threads%s\n\n",
	        paint(options, BOLD), paint(options, PLAIN));
}

static void put_line(FILE *to, const struct regions *regions, uint32_t i,
                     const struct report_options *options)
{
	struct table table = {.columns = columns, .to = to};
	const struct openmp_row *row = &regions->openmp.rows[i];

	table_begin(&table);
	put_row(&table, regions, i);
	fprintf(to, " %9.1f%%  ", 100 * openmp_imbalance(&row->sum));
	report_cell_put(to, PROFILE_BY_SYMBOL, name_of(regions->trace, row),
	                room_behind(options, table_width(&table) + 13));
	table_end(&table);
}

static void put_regions(FILE *to, const struct regions *regions,
                        const struct report_options *options)
{
	struct table table = {.columns = columns, .to = to};

	if (!options->style.quiet) {
		table_titles(&table);
		fputs("  imbalance  region\n", to);
	}
	for (uint32_t i = 0; i < regions->openmp.nr && i < options->query.limit; i++)
		put_line(to, regions, i, options);
	report_text_rest(to, options, regions->openmp.nr, "region");
}

/* "inner in parallel main loop.c:7" */
static void put_function(FILE *to, const struct regions *regions,
                         const struct openmp_function *function,
                         const struct report_options *options)
{
	struct table table = {.columns = function_columns, .to = to};
	char text[FRAME_TEXT_SIZE], cell[FRAME_TEXT_SIZE + MAX_NAME];

	table_begin(&table);
	table_share(&table, function->weight, regions->samples.total);
	table_number(&table, function->samples);
	snprintf(cell, sizeof(cell), "%s in %s",
	         frame_name_symbol(&regions->samples.names, function->name, text),
	         name_of(regions->trace, &regions->openmp.rows[function->row]));
	fputs("  ", to);
	report_cell_put(to, PROFILE_BY_SYMBOL, cell, room_behind(options, table_width(&table) + 2));
	table_end(&table);
}

static bool all_are_noise(const struct openmp_samples *samples)
{
	for (uint32_t i = 0; i < samples->nr_functions; i++)
		if (!openmp_function_is_noise(&samples->functions[i]))
			return false;
	return true;
}

static void put_functions(FILE *to, const struct regions *regions,
                          const struct report_options *options)
{
	const struct openmp_samples *samples = &regions->samples;
	struct table table = {.columns = function_columns, .to = to};
	bool folds = options->query.fold && !all_are_noise(samples);
	uint32_t shown = 0;

	if (!samples->nr_functions)
		return;
	fprintf(to,
	        "\n%sfunctions in parallel regions, from samples%s: %.2f%% of all are in one\n\n",
	        paint(options, BOLD), paint(options, PLAIN),
	        100 * (double)samples->inside / (double)samples->total);
	if (!options->style.quiet) {
		table_titles(&table);
		fputs("  function and region\n", to);
	}
	for (uint32_t i = 0; i < samples->nr_functions && shown < options->query.limit; i++) {
		if (folds && openmp_function_is_noise(&samples->functions[i]))
			continue;
		put_function(to, regions, &samples->functions[i], options);
		shown++;
	}
	report_text_more(to, options, samples->nr_functions - shown, "function");
}

int report_openmp_text(FILE *to, const struct trace *trace, const char *name,
                       const struct report_options *options)
{
	struct regions regions;
	int err = regions_init(&regions, trace, &options->query);

	if (!err) {
		put_head(to, trace, &regions.openmp, name, options);
		put_regions(to, &regions, options);
		put_functions(to, &regions, options);
	}
	regions_fini(&regions);
	return err;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_object(struct table *table, const struct regions *regions, uint32_t i)
{
	const struct trace *trace = regions->trace;
	const struct openmp_row *row = &regions->openmp.rows[i];
	const struct trace_region *region = trace_region(trace, row->region);
	bool known = region && region->line;
	char function[MAX_NAME];

	openmp_function(trace, row, function, sizeof(function));
	table_begin(table);
	json_text(table->json, "region", name_of(trace, row));
	json_text(table->json, "function", function);
	json_text(table->json, "file", known ? trace_string(trace, region->file) : NULL);
	json_known(table->json, "line", known, known ? region->line : 0);
	put_row(table, regions, i);
	table_end(table);
}

static void put_function_object(struct table *table, const struct regions *regions,
                                const struct openmp_function *function)
{
	char text[FRAME_TEXT_SIZE];

	table_begin(table);
	json_text(table->json, "symbol",
	          frame_name_symbol(&regions->samples.names, function->name, text));
	json_text(table->json, "region",
	          name_of(regions->trace, &regions->openmp.rows[function->row]));
	table_share(table, function->weight, regions->samples.total);
	table_number(table, function->samples);
	table_end(table);
}

static void put_json(struct json_writer *json, const struct regions *regions, uint32_t limit)
{
	struct table rows = {.columns = columns, .json = json};
	struct table functions = {.columns = function_columns, .json = json};
	const struct openmp *openmp = &regions->openmp;

	json_begin_list(json, "regions");
	for (uint32_t i = 0; i < openmp->nr && i < limit; i++)
		put_object(&rows, regions, i);
	json_end_list(json);
	json_begin_list(json, "functions");
	for (uint32_t i = 0; i < regions->samples.nr_functions && i < limit; i++)
		put_function_object(&functions, regions, &regions->samples.functions[i]);
	json_end_list(json);
	json_number(json, "total_weight", regions->samples.total);
	json_number(json, "serial_ns", openmp_serial(openmp));
	json_number(json, "parallel_ns", openmp->covered);
	json_number(json, "work_ns", openmp->work);
	json_number(json, "idle_ns", openmp->idle);
	json_number(json, "barrier_wait_ns", openmp->barrier);
	json_number(json, "critical_wait_ns", openmp->critical);
}

int report_openmp_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct regions regions;
	int err = regions_init(&regions, trace, query);

	if (!err) {
		json_begin(&json, NULL);
		put_json(&json, &regions, query->limit);
		json_end(&json);
		fputc('\n', to);
	}
	regions_fini(&regions);
	return err;
}
