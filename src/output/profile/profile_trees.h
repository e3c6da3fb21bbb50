/*
 * The trees of a profile's classes, one at a time: the call paths that a class was met on, with
 * what it spent in each and below it.
 */
#ifndef OUTPUT_PROFILE_PROFILE_TREES_H
#define OUTPUT_PROFILE_PROFILE_TREES_H

#include "output/profile/profile.h"

struct profile_trees {
	const struct profile *profile;
	/* The tree: its root, and parents before their children, in the order in which they came.
	 */
	struct path_node *nodes;
	uint64_t *self;                    /* by node */
	struct profile_count_table counts; /* by node */
	uint32_t nr;

	/* Tables for making the tree; NULL: the tree is the profile's own. */
	uint32_t *order, *start;     /* numbers of sums by class: of each from its start on */
	const uint32_t *first, *end; /* of the class */
	uint32_t *at;                /* by the profile's node: the tree's that may be it */
	uint32_t *origins;           /* by the tree's node: the profile's */
	uint32_t room;
};

/* 0 or -ENOMEM; to be given to profile_trees_fini() in either case. */
int profile_trees_init(struct profile_trees *trees, const struct profile *profile);
void profile_trees_fini(struct profile_trees *trees);

/* Makes the tree of a class of samples. 0 or -ENOMEM. */
int profile_trees_make(struct profile_trees *trees, uint32_t class);

#endif
