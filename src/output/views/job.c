#include "output/views/job.h"
#include "output/profile/warnings_build.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int job_init_ranks(struct job *job, const struct trace *trace, const struct view_query *query)
{
	*job = (struct job){.trace = trace, .query = query, .samples.selection = query->selection};
	return rank_rows_init(&job->rows, trace);
}

int job_init_calls(struct job *job, const struct trace *trace, const struct view_query *query)
{
	int err = job_init_ranks(job, trace, query);

	return err ? err : call_sums_init(&job->calls, trace, &job->rows, query->selection);
}

int job_init(struct job *job, const struct trace *trace, const struct view_query *query)
{
	int err = job_init_calls(job, trace, query);

	return err ? err : rank_sums_init(&job->samples, trace, &job->rows, query);
}

int job_init_mpi(struct job *job, const struct trace *trace, const struct view_query *query)
{
	int err = job_init(job, trace, query);

	if (!err && !job->rows.nr && !job->samples.nr_contexts && !trace_has_calls(trace))
		err = -ENODATA;
	if (!err)
		err = call_callers_find(&job->callers, &job->samples);
	return err;
}

static uint32_t world_size(const struct trace *trace)
{
	const struct trace_process *process;
	uint32_t size = 0;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->world_size > size)
			size = process->world_size;
	return size;
}

void job_warnings(const struct job *job, warning_fn *fn, void *arg)
{
	const struct warner_of_whole whole = {{fn, arg}, job->samples.selection};
	const struct warner warner = warner_of_whole(&whole);
	uint32_t size = world_size(job->trace);

	warnings_of_run(job->trace, job->samples.selection, fn, arg);
	if (job->rows.nr && job->rows.nr < size)
		warn(&warner,
		     "%u of the job's %u ranks %s in this trace; adaptrace merge joins the traces "
		     "of all",
		     job->rows.nr, size, job->rows.nr == 1 ? "is" : "are");
}

int32_t job_highest_rank(const struct job *job)
{
	const struct call_sums *sums = &job->calls;
	int32_t highest = -1;

	for (uint32_t i = 0; i < sums->nr_links; i++) {
		highest = sums->links[i].from > highest ? sums->links[i].from : highest;
		highest = sums->links[i].to > highest ? sums->links[i].to : highest;
	}
	return highest;
}

static int compare_by_bytes(const void *a, const void *b)
{
	const struct call_link *x = a, *y = b;

	return ORDER(y->bytes, x->bytes) ?: ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

struct call_link *job_links(const struct job *job, uint32_t *nr)
{
	const struct call_sums *sums = &job->calls;
	struct call_link *links = calloc(sums->nr_links + 1UL, sizeof(*links));

	*nr = sums->nr_links;
	if (!links || !*nr)
		return links;
	memcpy(links, sums->links, *nr * sizeof(*links));
	if (job_highest_rank(job) < JOB_MATRIX_RANKS)
		return links;
	ARRAY_SORT(links, *nr, compare_by_bytes);
	if (*nr > job->query->limit)
		*nr = job->query->limit;
	return links;
}

bool job_has_calls(const struct trace *trace, const struct view_query *query)
{
	return trace_has_calls(trace) && !selection_chooses_cpus(query->selection);
}

void job_fini(struct job *job)
{
	rank_sums_fini(&job->samples);
	call_sums_fini(&job->calls);
	rank_rows_fini(&job->rows);
}
