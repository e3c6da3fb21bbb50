/*
 * The rows of a subset of a profile: its weight in each function, and in all that the function
 * called.
 */
#ifndef OUTPUT_VIEWS_SUBSET_ROWS_H
#define OUTPUT_VIEWS_SUBSET_ROWS_H

#include "output/profile/profile_trees.h"

struct subset_row {
	uint32_t subset, name; /* name: PROFILE_NONE: not sampled */
	uint32_t row;          /* the profile's; PROFILE_NONE: it only called */
	uint64_t total;        /* recursion counted once */
	uint64_t order;        /* of all rows of the profile, as their functions were met first */
};

struct subset_rows {
	const struct profile_trees *trees;
	struct subset_row *rows; /* of the subset */
	uint32_t nr;
	size_t most; /* largest number of rows of a subset so far */

	uint32_t *by_name;    /* + 1; 0: none */
	uint32_t *on_the_way; /* by name: how often to a node */
};

/* Returns 0 or -ENOMEM; call subset_rows_fini() in either case. */
int subset_rows_init(struct subset_rows *rows, const struct profile_trees *trees);
void subset_rows_fini(struct subset_rows *rows);

/* Makes the rows of the subset whose tree was made last. Returns 0 or -ENOMEM. */
int subset_rows_make(struct subset_rows *rows, uint32_t subset);

#endif
