/*
 * The trees of a profile's subsets, one at a time: the call paths of a subset, each with its own
 * weight and the weight below it.
 */
#ifndef OUTPUT_PROFILE_PROFILE_TREES_H
#define OUTPUT_PROFILE_PROFILE_TREES_H

#include "output/profile/profile.h"

struct profile_trees {
	const struct profile *profile;
	/*
	 * The tree. The root is first, and parents come before their children, in order of
	 * appearance.
	 */
	struct path_node *nodes;
	uint64_t *self;                    /* by node */
	struct profile_count_table counts; /* by node */
	uint32_t nr;

	/* Tables for making the tree; NULL: the tree is the profile's own. */
	uint32_t *order, *start;     /* numbers of sums by subset: of each from its start on */
	const uint32_t *first, *end; /* of the subset */
	/*
	 * By node of the profile: its node in the tree. Trees that were made before leave their
	 * entries; an entry is valid if it is below nr and its origin is the node of the profile.
	 */
	uint32_t *at;
	uint32_t *origins; /* by node of the tree: the node of the profile */
	uint32_t room;
};

/* Returns 0 or -ENOMEM; call profile_trees_fini() in either case. */
int profile_trees_init(struct profile_trees *trees, const struct profile *profile);
void profile_trees_fini(struct profile_trees *trees);

/* Makes the tree of a subset of samples. Returns 0 or -ENOMEM. */
int profile_trees_make(struct profile_trees *trees, uint32_t subset);

#endif
