/*
 * The change of every function from one run to another, or from some runs to others. Rows of the
 * profiles are matched by the texts of their cells, because numbers of names are valid in their own
 * trace only.
 */
#ifndef OUTPUT_VIEWS_DIFF_H
#define OUTPUT_VIEWS_DIFF_H

#include "output/profile/warnings.h"
#include "output/views/query.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

extern const char *const diff_side_names[DIFF_SIDES]; /* "before", "after" */

struct diff_runs {
	const struct profile *const *profiles;
	unsigned nr; /* at least one */
};

/* The value of a function in the runs of a side. A run without the function counts as 0. */
struct diff_value {
	double mean;
	double sampling; /* variance of a run's value for its samples, on average */
	double scatter;  /* variance of the values of the runs; 0 if there is one run */
	uint64_t samples;
};

struct diff_row {
	char *cells;                   /* by key, each with its NUL */
	const struct profile *profile; /* a profile that has such a row */
	uint32_t number;               /* the number of that row */
	struct diff_value of[DIFF_SIDES];
	double change; /* of the means */
	/*
	 * Half the width of the 95 % interval of the change. With one run on each side it follows
	 * from sampling alone: it does not say how much runs of one program differ. With more runs
	 * it follows from their scatter, by Welch's method for means of unequal variance, and is no
	 * less than that of sampling. A side of one run is assumed to scatter as the other.
	 */
	double error;
};

struct diff {
	struct diff_runs runs[DIFF_SIDES];
	struct diff_row whole; /* without cells: all that was spent */
	struct diff_row *rows; /* the largest changes first */
	size_t nr;
};

/*
 * Compares profiles that were made with the keys of the query. The profiles must outlive the
 * diff. Only self weights are compared. A value is a weight, scaled so that the weights add up to
 * the kernel's exact total where samples cover most of it; with `shares` it is a percentage of the
 * run's weight. Returns 0 or -ENOMEM; call diff_fini() in either case.
 */
int diff_init(struct diff *diff, const struct diff_runs runs[DIFF_SIDES],
              const struct view_query *query, bool shares);
void diff_fini(struct diff *diff);

/* Returns the text of a row in the column of the query's key k. */
const char *diff_cell(const struct diff_row *row, unsigned k);

/* Calls fn with the warnings about all runs together; those of single runs are with their profiles.
 */
void diff_warnings(const struct diff *diff, const struct view_query *query, warning_fn *fn,
                   void *arg);

static inline bool diff_has_one_run_each(const struct diff *diff)
{
	return diff->runs[DIFF_BEFORE].nr == 1 && diff->runs[DIFF_AFTER].nr == 1;
}

/* Whether the change is larger than its error. */
static inline bool diff_is_clear(const struct diff_row *row)
{
	return row->change > row->error || -row->change > row->error;
}

#endif
