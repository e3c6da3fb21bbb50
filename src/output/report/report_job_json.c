#include "output/views/call_text.h"
#include "output/text/json_text.h"
#include "output/views/mpi_paths.h"
#include "output/views/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void add_sum(struct json_object *object, const struct call_sum *sum)
{
	json_add_number(object, "calls", sum->calls);
	json_add_number(object, "unfinished", sum->unfinished);
	json_add_number(object, "time_ns", sum->time);
	json_add_number(object, "longest_ns", sum->longest);
	json_add_number(object, "sent", sum->sent);
	json_add_number(object, "bytes", sum->bytes);
	json_add_number(object, "received", sum->received);
	json_add_number(object, "bytes_in", sum->bytes_in);
}

static void add_values(struct json_object *object, const struct value_sum *values)
{
	json_add(object, "mean", values->nr ? json_real(values->sum / (double)values->nr) : NULL);
	json_add(object, "min", values->nr ? json_real(values->least) : NULL);
	json_add(object, "max", values->nr ? json_real(values->most) : NULL);
	json_add(object, "last", values->nr ? json_real(values->last) : NULL);
}

static struct json_object *calls_array(const struct call_sums *sums,
                                       const struct report_options *options)
{
	struct json_object *array = json_list();
	uint32_t nr, *order = call_sums_order(sums, &nr);

	if (!order) {
		json_free(array);
		return json_lost();
	}
	for (uint32_t i = 0; i < nr && i < options->limit; i++) {
		const struct trace_region *region = trace_region(sums->trace, order[i]);
		struct json_object *object = json_new();

		json_add_text(object, "call", trace_region_name(sums->trace, order[i]));
		json_add_text(object, "class", region_class_name(region->region_class));
		add_sum(object, &sums->regions[order[i]]);
		if (region->region_class == TRACE_VALUE)
			add_values(object, &sums->regions[order[i]].values);
		json_append(array, object);
	}
	free(order);
	return array;
}

struct json_object *report_calls_object(const struct trace *trace,
                                        const struct report_options *options)
{
	struct json_object *array = NULL;
	struct job job;
	int err = job_init_calls(&job, trace, options);

	if (!err)
		array = calls_array(&job.calls, options);
	job_fini(&job);
	errno = -err;
	return array;
}

static struct json_object *ranks_array(const struct job *job, uint32_t limit)
{
	struct json_object *array = json_list();

	for (uint32_t i = 0; i < job->rows.nr && i < limit; i++) {
		struct json_object *object = json_new();
		const struct rank_row *row = &job->rows.rows[i];

		json_add_int(object, "rank", row->rank);
		json_add_text(object, "host", trace_string(job->trace, row->host));
		json_add_number(object, "weight", job->samples.weights[i]);
		json_add_number(object, "mpi_weight", job->samples.mpi[i]);
		if (trace_has_calls(job->trace))
			add_sum(object, &job->calls.ranks[i]);
		json_append(array, object);
	}
	return array;
}

static struct json_object *head(const struct job *job, uint32_t nr_ranks)
{
	const struct trace_event *event = trace_event(job->trace, job->samples.event);
	struct json_object *object = json_new(), *warnings = json_list();

	job_warnings(job, json_append_text, warnings);
	json_add_text(object, "event", trace_string(job->trace, event->name));
	json_add_text(object, "unit", trace_unit_name(event->unit));
	json_add_number(object, "total_weight", job->samples.total);
	json_add_number(object, "weight_without_rank", job->samples.others);
	json_add(object, "warnings", warnings);
	json_add(object, "ranks", ranks_array(job, nr_ranks));
	return object;
}

/* --- imbalance -------------------------------------------------------------------------------- */

static struct json_object *spread_object(const struct job *job, const struct spread *spread,
                                         const uint64_t *weights)
{
	struct json_object *object = json_new(), *all = json_list();
	const struct rank_row *rows = job->rows.rows;

	json_add_real(object, "mean", (double)spread->sum / job->rows.nr);
	json_add_number(object, "min", spread->least);
	json_add_int(object, "min_rank", rows[spread->least_row].rank);
	json_add_number(object, "max", spread->most);
	json_add_int(object, "max_rank", rows[spread->most_row].rank);
	for (uint32_t i = 0; i < job->rows.nr; i++)
		json_append(all, json_number(weights[i]));
	json_add(object, "by_rank", all);
	return object;
}

static struct json_object *function_object(const struct job *job,
                                           const struct rank_function *function)
{
	const struct rank_sums *sums = &job->samples;
	struct json_object *object = json_new(), *self;
	size_t first = (size_t)function->name * job->rows.nr;
	char text[FRAME_TEXT_SIZE];

	json_add_text(object, "symbol", paths_function(&sums->paths, function->name, text));
	json_add_text(
		object, "module",
		frame_module_text(job->trace, paths_name(&sums->paths, function->name)->frame));
	self = spread_object(job, &function->self, &sums->self[first]);
	json_add_number(self, "error", (uint64_t)ceil(function->self.error));
	json_add(object, "self", self);
	json_add(object, "total", spread_object(job, &function->total, &sums->in_all[first]));
	return object;
}

int report_ranks_json(FILE *to, const struct trace *trace, const struct report_options *options)
{
	struct json_out out = {.to = to};
	struct job job;
	int err = job_init(&job, trace, options);

	if (!err && !job.rows.nr)
		err = -ENODATA;
	if (!err) {
		fputc('{', to);
		/* All ranks, for functions have a weight of each. */
		json_put_members(&out, head(&job, UINT32_MAX));
		fputs("\"functions\":[", to);
		for (uint32_t i = 0; i < job.samples.nr_functions && i < options->limit; i++) {
			if (i)
				fputc(',', to);
			json_put(&out, function_object(&job, &job.samples.functions[i]));
		}
		fputs("]}\n", to);
		err = out.err;
	}
	job_fini(&job);
	return err;
}

/* --- MPI -------------------------------------------------------------------------------------- */

static struct json_object *context_object(const struct job *job, const struct mpi_context *context)
{
	struct json_object *object = json_new(), *stack = json_list();
	const struct paths *paths = &job->samples.paths;
	char text[FRAME_TEXT_SIZE];

	json_append(stack, json_text(mpi_paths_call(paths, context->path, text)));
	for (uint32_t path = paths_caller(paths, context->path); path != PATH_NONE;
	     path = paths_caller(paths, path))
		json_append(stack, json_text(paths_function(paths, paths_leaf(paths, path), text)));
	json_add_number(object, "weight", context->weight);
	json_add_number(object, "samples", context->samples);
	json_add(object, "stack", stack);
	return object;
}

static struct json_object *callers_object(const struct call_callers *callers)
{
	struct json_object *object = json_new();

	json_add_number(object, "calls", callers->calls);
	json_add_number(object, "time_ns", callers->time);
	json_add_number(object, "known", callers->known);
	json_add_number(object, "known_time_ns", callers->known_time);
	return object;
}

static struct json_object *matrix_array(const struct job *job)
{
	struct json_object *array = json_list();
	uint32_t nr;
	struct call_link *links = job_links(job, &nr);

	if (!links) {
		json_free(array);
		return json_lost();
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct json_object *object = json_new();

		json_add_int(object, "from", links[i].from);
		json_add_int(object, "to", links[i].to);
		json_add_number(object, "messages", links[i].messages);
		json_add_number(object, "bytes", links[i].bytes);
		json_append(array, object);
	}
	free(links);
	return array;
}

int report_mpi_json(FILE *to, const struct trace *trace, const struct report_options *options)
{
	struct json_out out = {.to = to};
	struct job job;
	int err = job_init_mpi(&job, trace, options);

	if (!err) {
		struct json_object *object = head(&job, options->limit), *array = json_list();

		for (uint32_t i = 0; i < job.samples.nr_contexts && i < options->limit; i++)
			json_append(array, context_object(&job, &job.samples.contexts[i]));
		json_add(object, "contexts", array);
		json_add(object, "callers", callers_object(&job.callers));
		json_add(object, "calls", calls_array(&job.calls, options));
		json_add(object, "matrix", matrix_array(&job));
		json_add_number(object, "messages_elsewhere", job.calls.messages_elsewhere);
		json_add_number(object, "bytes_elsewhere", job.calls.bytes_elsewhere);
		json_put(&out, object);
		fputc('\n', to);
		err = out.err;
	}
	job_fini(&job);
	return err;
}
