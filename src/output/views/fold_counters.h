/*
 * The rates of counters inside a folded iteration.
 *
 * A sample tells how far each counter advanced since the sample before it in the same stream. The
 * time in between covers known parts of known bins, so each such interval is an equation:
 *
 *     advance = Σ over bins of rate · covered time
 *
 * The rates are the weighted least squares solution of all equations, and need not be smoothed.
 * They resolve an iteration even where samples are further apart than an iteration is long.
 */
#ifndef OUTPUT_VIEWS_FOLD_COUNTERS_H
#define OUTPUT_VIEWS_FOLD_COUNTERS_H

#include "hmb/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct fold_counters {
	unsigned nr_bins, nr_counters;
	uint64_t intervals;
	double *matrix; /* nr_bins × nr_bins, its lower half */
	double *advances[COUNTER_MAX];
	double squares[COUNTER_MAX];
	bool factored, undetermined;
};

/* Returns 0 or -ENOMEM; fold_counters_fini() may be called in either case. */
int fold_counters_init(struct fold_counters *counters, unsigned nr_bins, unsigned nr_counters);
void fold_counters_fini(struct fold_counters *counters);

/* Adds an interval: the time that it covers of each bin in s, and the advance of each counter. */
void fold_counters_add(struct fold_counters *counters, const double *covered,
                       const uint64_t *advances);

#define FOLD_MOST_BINS 100

/* Values of the bins of an iteration, with intervals of 95 %. */
struct fold_band {
	double value[FOLD_MOST_BINS], low[FOLD_MOST_BINS], high[FOLD_MOST_BINS];
};
/*
 * Writes the rates of a counter in each bin, a second. Returns false where the intervals do not
 * determine them.
 */
bool fold_counters_solve(struct fold_counters *counters, unsigned counter, struct fold_band *rates);

#endif
