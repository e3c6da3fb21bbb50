/* The tables of a job: calls and values, ranks, contexts, and messages. */
#ifndef OUTPUT_REPORT_JOB_TABLES_H
#define OUTPUT_REPORT_JOB_TABLES_H

#include "output/report/table.h"
#include "output/views/job.h"

/* Returns the columns for values, or for other regions. A row is put for either. */
const struct column *call_columns(bool values);
void put_call_row(struct table *table, const struct call_sums *sums, uint32_t region);

/* calls: the trace has calls, too */
const struct column *rank_columns(bool calls);
void put_rank_row(struct table *table, const struct job *job, uint32_t row);

/*
 * A function over ranks. Text shows what it spent in itself, and cuts its name to `room` columns if
 * not 0.
 */
extern const struct column spread_columns[];
void put_spread_row(struct table *table, const struct job *job,
                    const struct rank_function *function, unsigned room);

/* A row ends with the path of its context, which the caller puts before table_end(). */
extern const struct column context_columns[];
void put_context_row(struct table *table, const struct job *job, const struct mpi_context *context);

extern const struct column link_columns[];
void put_link_row(struct table *table, const struct call_link *link);

static inline enum trace_unit job_unit(const struct job *job)
{
	return trace_event(job->trace, job->samples.event)->unit;
}

#endif
