/*
 * Samples of parallel regions. A sample belongs to the innermost region of which the code is on its
 * call path: in whichever thread, and whether or not the region's call was stored.
 */
#ifndef OUTPUT_VIEWS_OPENMP_SAMPLES_H
#define OUTPUT_VIEWS_OPENMP_SAMPLES_H

#include "output/profile/frame_names.h"
#include "output/views/openmp.h"

#define OPENMP_LEAST_SAMPLES 5 /* n where n > 1.96 √(n + 1) */

struct openmp_function {
	uint32_t row;  /* of the struct openmp */
	uint32_t name; /* of names */
	uint64_t weight, samples;
};

struct openmp_samples {
	uint64_t total, inside; /* weights of all samples, and of those in regions */
	uint64_t *in_rows;      /* weights by row of the struct openmp */
	struct frame_names names;
	struct openmp_function *functions; /* by weight, descending */
	uint32_t nr_functions;
};

/* Whether it may be there by chance alone: its error bar, if no two samples in a row, reaches 0. */
static inline bool openmp_function_is_noise(const struct openmp_function *function)
{
	return function->samples < OPENMP_LEAST_SAMPLES;
}

/*
 * Adds up the samples of the query's event, or of the first one. Returns 0, -ENOMEM, or -EBADMSG
 * where the trace is damaged. openmp_samples_fini() may be called in either case.
 */
int openmp_samples_init(struct openmp_samples *samples, const struct trace *trace,
                        const struct openmp *openmp, const struct view_query *query);
void openmp_samples_fini(struct openmp_samples *samples);

#endif
