#include "output/report/job_tables.h"
#include "output/text/json_writer.h"
#include "output/views/mpi_paths.h"

#include <errno.h>
#include <stdlib.h>

static int put_calls(struct json_writer *json, const struct call_sums *sums, uint32_t limit)
{
	uint32_t nr, *order = call_sums_order(sums, &nr);
	struct table table = {.json = json};

	if (!order)
		return -ENOMEM;
	json_begin_list(json, "calls");
	for (uint32_t i = 0; i < nr && i < limit; i++)
		put_call_row(&table, sums, order[i]);
	json_end_list(json);
	free(order);
	return 0;
}

int report_calls_json(struct json_writer *json, const struct trace *trace,
                      const struct view_query *query)
{
	struct job job;
	int err = job_init_calls(&job, trace, query);

	if (!err)
		err = put_calls(json, &job.calls, query->limit);
	job_fini(&job);
	return err;
}

static void put_ranks(struct json_writer *json, const struct job *job, uint32_t limit)
{
	struct table table = {.columns = rank_columns(trace_has_calls(job->trace)), .json = json};

	json_begin_list(json, "ranks");
	for (uint32_t i = 0; i < job->rows.nr && i < limit; i++)
		put_rank_row(&table, job, i);
	json_end_list(json);
}

static void put_head(struct json_writer *json, const struct job *job, uint32_t nr_ranks)
{
	const struct trace_event *event = trace_event(job->trace, job->samples.event);

	json_text(json, "event", trace_string(job->trace, event->name));
	json_text(json, "unit", trace_unit_name(event->unit));
	json_number(json, "total_weight", job->samples.total);
	json_number(json, "weight_without_rank", job->samples.others);
	json_begin_list(json, "warnings");
	job_warnings(job, json_append_text, json);
	json_end_list(json);
	put_ranks(json, job, nr_ranks);
}

static void put_functions(struct json_writer *json, const struct job *job)
{
	struct table table = {.columns = spread_columns, .json = json};

	json_begin_list(json, "functions");
	for (uint32_t i = 0; i < job->samples.nr_functions && i < job->query->limit; i++)
		put_spread_row(&table, job, &job->samples.functions[i], 0);
	json_end_list(json);
}

int report_ranks_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct job job;
	int err = job_init(&job, trace, query);

	if (!err && !job.rows.nr)
		err = -ENODATA;
	if (!err) {
		json_begin(&json, NULL);
		put_head(&json, &job, UINT32_MAX); /* functions have a weight of each */
		put_functions(&json, &job);
		json_end(&json);
		fputc('\n', to);
	}
	job_fini(&job);
	return err;
}

/* --- MPI -------------------------------------------------------------------------------------- */

static void put_context(struct table *table, const struct job *job,
                        const struct mpi_context *context)
{
	const struct paths *paths = &job->samples.paths;
	uint32_t path = context->path;
	char text[FRAME_TEXT_SIZE];

	put_context_row(table, job, context);
	json_begin_list(table->json, "stack");
	json_text(table->json, NULL, mpi_paths_call(paths, path, text));
	while ((path = paths_caller(paths, path)) != PATH_NONE)
		json_text(table->json, NULL, paths_function(paths, paths_leaf(paths, path), text));
	json_end_list(table->json);
	table_end(table);
}

static void put_contexts(struct json_writer *json, const struct job *job)
{
	const struct call_callers *callers = &job->callers;
	struct table table = {.columns = context_columns, .json = json};

	json_begin_list(json, "contexts");
	for (uint32_t i = 0; i < job->samples.nr_contexts && i < job->query->limit; i++)
		put_context(&table, job, &job->samples.contexts[i]);
	json_end_list(json);
	json_begin(json, "callers");
	json_number(json, "calls", callers->calls);
	json_number(json, "time_ns", callers->time);
	json_number(json, "known", callers->known);
	json_number(json, "known_time_ns", callers->known_time);
	json_end(json);
}

static int put_matrix(struct json_writer *json, const struct job *job)
{
	uint32_t nr;
	struct call_link *links = job_links(job, &nr);
	struct table table = {.columns = link_columns, .json = json};

	if (!links)
		return -ENOMEM;
	json_begin_list(json, "matrix");
	for (uint32_t i = 0; i < nr; i++)
		put_link_row(&table, &links[i]);
	json_end_list(json);
	json_number(json, "messages_elsewhere", job->calls.messages_elsewhere);
	json_number(json, "bytes_elsewhere", job->calls.bytes_elsewhere);
	free(links);
	return 0;
}

int report_mpi_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	struct job job;
	int err = job_init_mpi(&job, trace, query);

	if (!err) {
		json_begin(&json, NULL);
		put_head(&json, &job, query->limit);
		put_contexts(&json, &job);
		err = put_calls(&json, &job.calls, query->limit);
	}
	if (!err)
		err = put_matrix(&json, &job);
	if (!err) {
		json_end(&json);
		fputc('\n', to);
	}
	job_fini(&job);
	return err;
}
