/* The tables of a job: calls and values, ranks, contexts, and messages. */
#ifndef OUTPUT_REPORT_JOB_TABLES_H
#define OUTPUT_REPORT_JOB_TABLES_H

#include "output/report/table.h"
#include "output/views/call_sites.h"
#include "output/views/job.h"

/* Returns the columns for values, or for other regions. A row is put for either. */
const struct column *call_columns(bool values);
void put_call_row(struct table *table, const struct call_sums *sums, uint32_t region);

/* Calls by place. JSON needs no options. */
enum { SITE_CALL_COLUMN = 12, NR_SITE_COLUMNS = 20 };
extern const struct column site_columns[NR_SITE_COLUMNS];
void put_site_row(struct table *table, const struct call_sites *sites,
                  const struct call_site_row *row, const struct report_options *options);

/* Returns the key of the column of errors, which text hides where all calls were timed, or NULL. */
static inline const char *hidden_error(bool thinned)
{
	return thinned ? NULL : "time_error_ns";
}

/*
 * Prints as text whether sums have all calls, where not all are stored, and whether all were timed.
 */
void put_call_completeness(FILE *to, const struct trace *trace, bool exact, bool thinned);

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
