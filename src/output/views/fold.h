/*
 * Folding: the samples of all iterations of a loop, laid into one iteration.
 *
 * A sample at time t in an iteration from b to e is at the position (t - b) / (e - b). A few
 * samples in each of many iterations show the inside of one, in more detail than the sampling
 * period. Folding was introduced by Servat, Llort, Giménez and Labarta (2009). Here the shares of a
 * bin are plain counts with Wilson's intervals: smoothing makes the error no smaller and the stated
 * one wrong.
 *
 * Only iterations of the loop's most frequent pattern are folded, and of these the ones within a
 * tenth of the median duration: in one that was interrupted the same code is at another position.
 * A sample delays its iteration. Durations and positions are without this delay: short iterations
 * with samples would else be left out, because they have samples.
 */
#ifndef OUTPUT_VIEWS_FOLD_H
#define OUTPUT_VIEWS_FOLD_H

#include "output/profile/paths.h"
#include "output/views/fold_counters.h"
#include "output/views/iterations.h"

#define FOLD_CELLS 1024 /* of positions, for the test of uniformity */

struct fold_iteration {
	uint64_t begin, end; /* ns of the trace's clock; sorted, and they do not overlap */
	uint32_t samples;    /* of the loop's thread */
};

/* The iterations of a process. */
struct fold_process {
	uint32_t process;
	const struct iteration_phase *phase;
	struct fold_iteration *iterations; /* those that are folded */
	size_t nr;
	uint64_t median; /* ns; of those of the main pattern, without the time of samples */
	uint64_t delay;  /* ns that a sample adds to an iteration of the loop's thread */
	size_t latest;   /* iteration of a walk over samples, from 1; 0: none */
	uint32_t before; /* samples of the loop's thread so far in it */
};

struct fold_function {
	uint32_t function; /* of the paths */
	uint64_t samples;
	uint64_t last; /* sample that was counted last, from 1 */
	uint64_t in_bins[FOLD_MOST_BINS];
};

struct fold {
	const struct trace *trace;
	const struct selection *selection;
	uint32_t event;
	struct iterations found;
	uint32_t phase; /* as report --iterations numbers them, from 1 */
	struct fold_process *processes;
	uint32_t nr_processes;
	struct map64 by_process;
	uint64_t seen, folded; /* iterations */

	uint64_t selected; /* samples, in the folded iterations or not */
	uint64_t samples;  /* in the folded iterations */
	unsigned nr_bins;
	uint64_t in_bins[FOLD_MOST_BINS], in_cells[FOLD_CELLS];
	double samples_in_tick; /* that may depend on each other, and count as one */
	struct paths paths;
	struct map64 rows, total_rows;
	struct fold_function *functions; /* most samples first */
	struct fold_function *totals;    /* the same of functions with all that they called */
	uint32_t nr_functions, nr_totals;
	uint64_t counted; /* samples */
	struct fold_counters counters;
};

/*
 * Folds one phase: the one that report --iterations numbers query->phase, or if that is 0 the
 * program's steps that took the most time, with those of the other ranks. Returns 0, -ENODATA where
 * there is no such phase, -ENOMSG where no sample is in an iteration that is folded, -ENOMEM or
 * -EBADMSG. fold_fini() may be called in either case.
 */
int fold_init(struct fold *fold, const struct trace *trace, const struct view_query *query);
void fold_fini(struct fold *fold);

/* Returns how many functions have at least this share of the samples. */
uint32_t fold_nr_functions(const struct fold *fold, double least);

/* Writes the shares of a function in the samples of each bin; NANs where the bin has none. */
void fold_shares(const struct fold *fold, const struct fold_function *function,
                 struct fold_band *shares);
/*
 * Whether samples are spread evenly over the iteration (Kolmogorov and Smirnov, 1 %). They are not
 * where the program's steps keep time with the sampling period, for example.
 */
bool fold_is_even(const struct fold *fold);

#endif
