/* The branches of a tree of a profile that are worth showing. */
#ifndef OUTPUT_VIEWS_REPORT_TREE_H
#define OUTPUT_VIEWS_REPORT_TREE_H

#include "output/profile/profile_trees.h"
#include "output/views/query.h"

/*
 * A branch: a node, or the sum of nodes that are too small to be shown, or the unsampled weight of
 * a command.
 */
struct report_branch {
	uint32_t parent;       /* node */
	uint32_t node;         /* PROFILE_NONE: another one of these */
	uint32_t unsampled;    /* number in the profile; PROFILE_NONE: sampled, or a sum */
	uint32_t nr : 31;      /* of a sum */
	uint32_t namesake : 1; /* a sibling has the same name and another module, as _start may have
	                        */
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
 * Makes the branches that the query asks for, of the whole profile or of a view, as
 * report_profile() made it. In the whole profile, unsampled weight is among the roots, unless each
 * subset has a tree. The depth is bounded, also for hostile traces, so callers may descend by
 * recursion. Returns 0 or -ENOMEM; call report_tree_fini() after 0.
 */
int report_tree_init(struct report_tree *tree, const struct profile_trees *of,
                     const struct view_query *query, const struct profile_view *view);
void report_tree_fini(struct report_tree *tree);

/* Returns the first of the branches below a node, and sets *nr to their number. */
const struct report_branch *report_tree_children(const struct report_tree *tree, uint32_t node,
                                                 size_t *nr);

#endif
