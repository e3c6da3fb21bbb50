/* report --openmp: parallel regions and what their threads waited for. */
#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "output/report/table.h"
#include "output/views/openmp.h"

#include <inttypes.h>

#define MAX_NAME 1024

static const struct column columns[] = {
	{"count", "count", COLUMN_COUNT, 9},
	{"threads", "threads", COLUMN_COUNT, 8},
	{"time", "time_ns", COLUMN_TIME, 10},
	{"idle", "idle_ns", COLUMN_TIME, 10},
	{"barrier", "barrier_wait_ns", COLUMN_TIME, 10},
	{"critical", "critical_wait_ns", COLUMN_TIME, 10},
	{NULL, "work_ns", COLUMN_TIME, 0},
	{NULL, "imbalance", COLUMN_REAL, 0},
	{NULL, NULL, COLUMN_END, 0},
};

static const char *name_of(const struct trace *trace, const struct openmp_row *row)
{
	const struct trace_region *region = trace_region(trace, row->region);

	return region ? trace_string(trace, region->name) : "?";
}

static void put_row(struct table *table, const struct openmp_row *row)
{
	const struct trace_openmp *sum = &row->sum;

	table_number(table, sum->count);
	table_number(table, sum->most_threads);
	table_number(table, sum->time);
	table_number(table, sum->idle);
	table_number(table, sum->barrier_wait);
	table_number(table, sum->critical_wait);
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
	put_time(to, ", waiting at barriers ", openmp->barrier);
	put_time(to, ", for critical sections ", openmp->critical);
	fprintf(to, "\n\n%sparallel regions, idle time and waits of all their threads%s\n\n",
	        paint(options, BOLD), paint(options, PLAIN));
}

static void put_line(FILE *to, const struct trace *trace, const struct openmp_row *row,
                     const struct report_options *options)
{
	struct table table = {.columns = columns, .to = to};

	table_begin(&table);
	put_row(&table, row);
	fprintf(to, " %9.1f%%  ", 100 * openmp_imbalance(&row->sum));
	report_cell_put(to, PROFILE_BY_SYMBOL, name_of(trace, row),
	                room_behind(options, table_width(&table) + 13));
	table_end(&table);
}

int report_openmp_text(FILE *to, const struct trace *trace, const char *name,
                       const struct report_options *options)
{
	struct table table = {.columns = columns, .to = to};
	struct openmp openmp;
	int err = openmp_init(&openmp, trace);

	if (!err) {
		put_head(to, trace, &openmp, name, options);
		if (!options->style.quiet) {
			table_titles(&table);
			fputs("  imbalance  region\n", to);
		}
		for (uint32_t i = 0; i < openmp.nr && i < options->query.limit; i++)
			put_line(to, trace, &openmp.rows[i], options);
		if (openmp.nr > options->query.limit && !options->style.quiet)
			fprintf(to, "%" PRIu32 " more; --all shows them\n",
			        openmp.nr - options->query.limit);
	}
	openmp_fini(&openmp);
	return err;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_object(struct table *table, const struct trace *trace, const struct openmp_row *row)
{
	const struct trace_region *region = trace_region(trace, row->region);
	bool known = region && region->line;
	char function[MAX_NAME];

	openmp_function(trace, row, function, sizeof(function));
	table_begin(table);
	json_text(table->json, "region", name_of(trace, row));
	json_text(table->json, "function", function);
	json_text(table->json, "file", known ? trace_string(trace, region->file) : NULL);
	json_known(table->json, "line", known, known ? region->line : 0);
	put_row(table, row);
	table_end(table);
}

int report_openmp_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct table table = {.columns = columns, .json = &json};
	struct openmp openmp;
	int err = openmp_init(&openmp, trace);

	if (!err) {
		json_begin(&json, NULL);
		json_begin_list(&json, "regions");
		for (uint32_t i = 0; i < openmp.nr && i < query->limit; i++)
			put_object(&table, trace, &openmp.rows[i]);
		json_end_list(&json);
		json_number(&json, "serial_ns", openmp_serial(&openmp));
		json_number(&json, "parallel_ns", openmp.covered);
		json_number(&json, "work_ns", openmp.work);
		json_number(&json, "idle_ns", openmp.idle);
		json_number(&json, "barrier_wait_ns", openmp.barrier);
		json_number(&json, "critical_wait_ns", openmp.critical);
		json_end(&json);
		fputc('\n', to);
	}
	openmp_fini(&openmp);
	return err;
}
