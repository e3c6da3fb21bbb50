/*
 * What became of every function from one run to another: the rows of two profiles, matched by what
 * they say of themselves, since numbers mean something in their own trace alone.
 */
#ifndef OUTPUT_DIFF_H
#define OUTPUT_DIFF_H

#include "output/report.h"

enum { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

extern const char *const diff_side_names[DIFF_SIDES]; /* "before", "after" */

struct diff_row {
	char *cells;              /* by key, each with its NUL */
	unsigned side, number;    /* a row of a profile that says so */
	double value[DIFF_SIDES]; /* of self; 0 where the function was not met */
	double variance[DIFF_SIDES];
	uint64_t samples[DIFF_SIDES];
	double change;
	/*
	 * Half the width of the 95 % interval of the change, as far as sampling makes it uncertain:
	 * that two runs of the same program differ is not in it.
	 */
	double error;
};

struct diff {
	const struct profile *profiles[DIFF_SIDES];
	double whole[DIFF_SIDES];
	struct diff_row *rows; /* the largest changes first */
	size_t nr;
};

/*
 * Of two profiles with the keys of the options, which stay where they are. Values are weights, or
 * with shares the percentages of their run's. 0 or -ENOMEM; to be given to diff_fini() in either
 * case.
 */
int diff_init(struct diff *diff, const struct profile *before, const struct profile *after,
              const struct report_options *options, bool shares);
void diff_fini(struct diff *diff);

/* Whether sampling alone would hardly make such a change. */
static inline bool diff_is_clear(const struct diff_row *row)
{
	return row->change > row->error || -row->change > row->error;
}

#endif
