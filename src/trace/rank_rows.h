/* The ranks of a trace, in ascending order, and the rank of each thread. */
#ifndef TRACE_RANK_ROWS_H
#define TRACE_RANK_ROWS_H

#include "trace/trace.h"

#define RANK_NONE UINT32_MAX

struct rank_row {
	int32_t rank;
	uint32_t process; /* its first one */
	uint32_t host;    /* string */
};

struct rank_rows {
	struct rank_row *rows;
	uint32_t nr;
	uint32_t *row_of_thread; /* RANK_NONE: of none */
	uint32_t nr_threads;
};

/*
 * Returns 0 or -ENOMEM. rank_rows_fini() must be called in either case. nr is 0 if there are no
 * ranks.
 */
int rank_rows_init(struct rank_rows *rows, const struct trace *trace);
void rank_rows_fini(struct rank_rows *rows);

static inline uint32_t rank_row(const struct rank_rows *rows, uint32_t thread)
{
	return thread < rows->nr_threads ? rows->row_of_thread[thread] : RANK_NONE;
}

#endif
