/*
 * The rows of a class of a profile: its weight in each function, and in all that the function
 * called.
 */
#ifndef OUTPUT_VIEWS_CLASS_ROWS_H
#define OUTPUT_VIEWS_CLASS_ROWS_H

#include "output/profile/profile_trees.h"

struct class_row {
	uint32_t class, name; /* name: PROFILE_NONE: not sampled */
	uint32_t row;         /* the profile's; PROFILE_NONE: it only called */
	uint64_t total;       /* recursion counted once */
	uint64_t order;       /* of all rows of the profile, as their functions were met first */
};

struct class_rows {
	const struct profile_trees *trees;
	struct class_row *rows; /* of the class */
	uint32_t nr;
	size_t most; /* largest number of rows of a class so far */

	uint32_t *by_name;    /* + 1; 0: none */
	uint32_t *on_the_way; /* by name: how often to a node */
};

/* Returns 0 or -ENOMEM; call class_rows_fini() in either case. */
int class_rows_init(struct class_rows *rows, const struct profile_trees *trees);
void class_rows_fini(struct class_rows *rows);

/* Makes the rows of the class whose tree was made last. Returns 0 or -ENOMEM. */
int class_rows_make(struct class_rows *rows, uint32_t class);

#endif
