#include "trace/rank_rows.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int compare_ranks(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;

	return ORDER(x->rank, y->rank);
}

static int compare_rows(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;

	return compare_ranks(x, y) ?: ORDER(x->process, y->process);
}

/* A rank that continued as another process has one row. */
static void drop_repeated(struct rank_rows *rows)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < rows->nr; i++)
		if (!nr || rows->rows[nr - 1].rank != rows->rows[i].rank)
			rows->rows[nr++] = rows->rows[i];
	rows->nr = nr;
}

static int find_rows(struct rank_rows *rows, const struct trace *trace)
{
	const struct trace_process *process;

	rows->rows = calloc(trace_nr(trace, TRACE_PROCESSES) + 1UL, sizeof(*rows->rows));
	if (!rows->rows)
		return -ENOMEM;
	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->rank >= 0)
			rows->rows[rows->nr++] =
				(struct rank_row){process->rank, i, trace_host(trace, process)};
	ARRAY_SORT(rows->rows, rows->nr, compare_rows);
	drop_repeated(rows);
	return 0;
}

/* Returns RANK_NONE if the rank is not in the trace. */
static uint32_t row_of_rank(const struct rank_rows *rows, int32_t rank)
{
	const struct rank_row wanted = {.rank = rank};
	const struct rank_row *found = ARRAY_FIND(rows->rows, rows->nr, &wanted, compare_ranks);

	return found ? (uint32_t)(found - rows->rows) : RANK_NONE;
}

int rank_rows_init(struct rank_rows *rows, const struct trace *trace)
{
	*rows = (struct rank_rows){0};
	if (find_rows(rows, trace))
		return -ENOMEM;
	rows->nr_threads = trace_nr(trace, TRACE_THREADS);
	rows->row_of_thread = calloc(rows->nr_threads + 1UL, sizeof(*rows->row_of_thread));
	if (!rows->row_of_thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->nr_threads; i++)
		rows->row_of_thread[i] = row_of_rank(rows, trace_rank(trace, i));
	return 0;
}

void rank_rows_fini(struct rank_rows *rows)
{
	free(rows->rows);
	free(rows->row_of_thread);
	*rows = (struct rank_rows){0};
}
