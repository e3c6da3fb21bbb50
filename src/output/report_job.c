#include "output/report_job.h"

#include <errno.h>

int job_init_calls(struct job *job, const struct trace *trace, const struct report_options *options)
{
	int err;

	*job = (struct job){.trace = trace, .options = options};
	err = rank_rows_init(&job->rows, trace);
	return err ? err : call_sums_init(&job->calls, trace, &job->rows, options->part);
}

int job_init(struct job *job, const struct trace *trace, const struct report_options *options)
{
	int err = job_init_calls(job, trace, options);

	return err ? err : rank_sums_init(&job->samples, trace, &job->rows, options);
}

int job_init_mpi(struct job *job, const struct trace *trace, const struct report_options *options)
{
	int err = job_init(job, trace, options);

	if (!err && !job->rows.nr && !job->samples.nr_contexts && !trace_has_calls(trace))
		err = -ENODATA;
	if (!err)
		err = call_callers_find(&job->callers, &job->samples);
	return err;
}

bool report_has_calls(const struct trace *trace, const struct report_options *options)
{
	return trace_has_calls(trace) && !part_chooses_cpus(options->part);
}

void job_fini(struct job *job)
{
	rank_sums_fini(&job->samples);
	call_sums_fini(&job->calls);
	rank_rows_fini(&job->rows);
}
