/*
 * Sums of an event's samples by rank: in every function, and in MPI by the call path that it was
 * called from.
 */
#ifndef OUTPUT_VIEWS_RANK_SUMS_H
#define OUTPUT_VIEWS_RANK_SUMS_H

#include "output/profile/error_bars.h"
#include "output/profile/paths.h"
#include "trace/rank_rows.h"
#include "output/views/query.h"

/* One function over all ranks, weights. */
struct spread {
	uint64_t sum, least, most;
	uint32_t least_row, most_row;
	/*
	 * Half the width of the 95 % interval of how much the most is above the mean, whichever
	 * rank has it: among many equal ranks one is far above by chance. Only known for the weight
	 * of functions in themselves.
	 */
	double error;
};

struct rank_function {
	uint32_t name; /* in paths.names */
	struct spread self, total;
};

/* Weights in MPI, called from one path. */
struct mpi_context {
	uint32_t path; /* of the MPI function, below that of its caller */
	uint64_t weight, samples;
};

struct rank_sums {
	const struct trace *trace;
	const struct rank_rows *rows;
	struct paths paths;
	uint32_t event;
	const struct selection *selection;
	struct map64 cell_by_key; /* path << 32 | row */
	struct map64 bar_by_key;  /* function << 32 | row */
	struct error_bars bars;
	/* how much the most is above the mean, by function; used for recordings in step */
	struct error_bars excess;
	struct rank_cell {
		uint32_t path, row, bar;
		uint64_t weight, samples;
	} * cells;
	uint32_t nr_cells;
	uint64_t total, others; /* weights of all samples; of those without a rank */
	uint64_t nr_samples;
	uint64_t *weights, *mpi;         /* by row: all, and in MPI */
	struct rank_function *functions; /* most self first */
	uint32_t nr_functions;
	uint64_t *self, *in_all;      /* function by row, of functions[] */
	struct mpi_context *contexts; /* most first */
	uint32_t nr_contexts;
};

/*
 * Sums the samples of the query's event, or of the first one, that its selection has. Returns 0,
 * -ENOMEM or -EBADMSG; call rank_sums_fini() in either case.
 */
int rank_sums_init(struct rank_sums *sums, const struct trace *trace, const struct rank_rows *rows,
                   const struct view_query *query);
void rank_sums_fini(struct rank_sums *sums);

#endif
