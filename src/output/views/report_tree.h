/* The branches of a tree of a profile that are worth showing. */
#ifndef OUTPUT_VIEWS_REPORT_TREE_H
#define OUTPUT_VIEWS_REPORT_TREE_H

#include "output/profile/profile_trees.h"
#include "output/views/query.h"

/* A node, the sum of those too small to show below one, or what was not sampled of a command. */
struct report_branch {
	uint32_t parent;       /* node */
	uint32_t node;         /* PROFILE_NONE: another one of these */
	uint32_t unsampled;    /* number in the profile; PROFILE_NONE: sampled, or a sum */
	uint32_t nr : 31;      /* of a sum */
	uint32_t namesake : 1; /* one of another module beside it reads the same, as _start */
	uint64_t total;
};

struct report_tree {
	const struct profile *profile;
	const struct profile_trees *of; /* the tree that was made last */
	uint64_t least;                 /* weight of a branch that is worth showing */
	struct report_branch *branches; /* by parent, and then by total, most first, sums last */
	size_t nr;
};

/*
 * The branches that the query asks for, of the whole profile or of a view, as report_profile() made
 * it. In the former what was not sampled is among the roots, unless each class has a tree. Stacks
 * that only a file pretends end somewhere, so that whoever goes down may do so by recursion. 0 or
 * -ENOMEM.
 */
int report_tree_init(struct report_tree *tree, const struct profile_trees *of,
                     const struct view_query *query, const struct profile_view *view);
void report_tree_fini(struct report_tree *tree);

/* The branches below a node (its children): the first, and how many. */
const struct report_branch *report_tree_children(const struct report_tree *tree, uint32_t node,
                                                 size_t *nr);

#endif
