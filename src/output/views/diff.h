/*
 * What became of every function from one run to another, or from some runs to others: the rows of
 * their profiles, matched by what they say of themselves, since numbers mean something in their own
 * trace alone.
 */
#ifndef OUTPUT_VIEWS_DIFF_H
#define OUTPUT_VIEWS_DIFF_H

#include "output/views/query.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

extern const char *const diff_side_names[DIFF_SIDES]; /* "before", "after" */

struct diff_runs {
	const struct profile *const *profiles;
	unsigned nr; /* at least one */
};

/* What the runs of a side say of a function; one that did not meet it says 0. */
struct diff_value {
	double mean;
	double sampling; /* variance of a run's value for its samples, on average */
	double scatter;  /* variance of the values of the runs; 0 of a single one */
	uint64_t samples;
};

struct diff_row {
	char *cells;                   /* by key, each with its NUL */
	const struct profile *profile; /* one that has such a row, */
	uint32_t number;               /* and which */
	struct diff_value of[DIFF_SIDES];
	double change; /* of the means */
	/*
	 * Half the width of the 95 % interval of the change. Of one run a side, as far as sampling
	 * makes it uncertain: how much runs of one program differ is not in it. Of more runs, by
	 * how these lie apart, which is Welch's way for means of unequal variance, but no less than
	 * by sampling. A side of one run is taken to scatter as the other.
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
 * Of profiles with the keys of the options, which stay where they are; of their rows what they
 * spent themselves counts alone. Values are weights, that sum up to the kernel's own total where
 * samples cover most of it, or with shares the percentages of their run's. 0 or -ENOMEM; to be
 * given to diff_fini() in either case.
 */
int diff_init(struct diff *diff, const struct diff_runs runs[DIFF_SIDES],
              const struct report_options *options, bool shares);
void diff_fini(struct diff *diff);

static inline bool diff_has_one_run_each(const struct diff *diff)
{
	return diff->runs[DIFF_BEFORE].nr == 1 && diff->runs[DIFF_AFTER].nr == 1;
}

/* Whether chance alone would hardly make such a change. */
static inline bool diff_is_clear(const struct diff_row *row)
{
	return row->change > row->error || -row->change > row->error;
}

#endif
