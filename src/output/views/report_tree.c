#include "output/views/report_tree.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define SMALL_SHARE 0.005 /* of the whole; less is not worth a branch */
/* Twice what a recorder makes; a file may pretend that stacks have no end. */
#define DEEPEST 4096

static int compare_branches(const void *a, const void *b)
{
	const struct report_branch *x = a, *y = b;

	return ORDER(x->parent, y->parent)
	               ?: ORDER(!y->nr, !x->nr)
	               ?: ORDER(y->total, x->total)
	               ?: ORDER(x->node, y->node)
	               ?: ORDER(x->unsampled, y->unsampled);
}

static uint64_t least_of(const struct profile *profile, const struct view_query *query,
                         const struct profile_view *view)
{
	uint64_t whole = view->direction == PROFILE_ALL ? profile->total : view->total;
	double share = query->least > 0 ? query->least : SMALL_SHARE;

	return query->all ? 0 : (uint64_t)(share * (double)whole);
}

static bool shown(const struct path_node *node, uint64_t least)
{
	return node->total >= least && node->total;
}

static void add(struct report_tree *tree, const struct report_branch *branch)
{
	tree->branches[tree->nr++] = *branch;
}

/* sums: of each node the number of the branch that small ones below it are in, + 1; 0: none yet */
static void add_small(struct report_tree *tree, uint32_t *sums, uint32_t parent, uint64_t total)
{
	struct report_branch *sum;

	if (!sums[parent]) {
		add(tree, &(struct report_branch){parent, PROFILE_NONE, PROFILE_NONE, 0, 0, 0});
		sums[parent] = (uint32_t)tree->nr;
	}
	sum = &tree->branches[sums[parent] - 1];
	sum->nr++;
	sum->total += total;
}

/* Without subsets all trees, and all that was not sampled, are branches of one root. */
static void collect_unsampled(struct report_tree *tree, uint32_t *sums)
{
	const struct profile *profile = tree->profile;

	if (profile->config.keys & PROFILE_CLASS_KEYS)
		return;
	for (uint32_t i = 0; i < profile->nr_unsampled; i++) {
		uint64_t weight = profile->rows[profile->unsampled[i].row].self;

		if (weight < tree->least)
			add_small(tree, sums, 0, weight);
		else
			add(tree, &(struct report_branch){0, PROFILE_NONE, i, 0, 0, weight});
	}
}

/* Small nodes below shown ones are summed; what is below small ones is in them already. */
static void collect(struct report_tree *tree, uint32_t *sums, const uint32_t *depths,
                    uint32_t max_depth)
{
	const struct path_node *nodes = tree->of->nodes;

	for (uint32_t i = 1; i < tree->of->nr; i++) {
		const struct path_node *node = &nodes[i];

		if (!node->total || depths[i] > max_depth ||
		    (node->parent && !shown(&nodes[node->parent], tree->least)))
			continue;
		if (shown(node, tree->least))
			add(tree, &(struct report_branch){node->parent, i, PROFILE_NONE, 0, 0,
			                                  node->total});
		else
			add_small(tree, sums, node->parent, node->total);
	}
}

/* At most one sum for each shown node, and one for the root; and what was not sampled. */
static size_t count_most(const struct profile_trees *of, uint64_t least)
{
	size_t nr = 1;

	for (uint32_t i = 1; i < of->nr; i++)
		nr += shown(&of->nodes[i], least);
	return 2 * nr + of->profile->nr_unsampled + 1;
}

static const struct frame_name *name_of(const struct report_tree *tree, uint32_t branch)
{
	static const struct frame_name none;
	uint32_t node = tree->branches[branch].node;

	return node == PROFILE_NONE ? &none
	                            : &tree->profile->names.names[tree->of->nodes[node].name];
}

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct report_tree *tree = arg;
	const uint32_t *x = a, *y = b;
	const struct frame_name *p = name_of(tree, *x), *q = name_of(tree, *y);
	uint32_t parent = tree->branches[*x].parent, other = tree->branches[*y].parent;

	return ORDER(parent, other) ?: ORDER(p->symbol, q->symbol) ?: ORDER(p->module, q->module);
}

/* Branches of one parent and symbol, by module. */
static void mark_namesakes(struct report_tree *tree, const uint32_t *order, size_t nr)
{
	const struct frame_name *first = name_of(tree, order[0]);
	bool namesake = first->symbol && first->module != name_of(tree, order[nr - 1])->module;

	for (size_t i = 0; i < nr; i++)
		tree->branches[order[i]].namesake = namesake;
}

static bool read_alike(const struct report_tree *tree, uint32_t x, uint32_t y)
{
	return tree->branches[x].parent == tree->branches[y].parent &&
	       name_of(tree, x)->symbol == name_of(tree, y)->symbol;
}

static int find_namesakes(struct report_tree *tree)
{
	uint32_t *order = calloc(tree->nr + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->nr; i++)
		order[i] = i;
	ARRAY_SORT_WITH(order, tree->nr, compare_names, tree);
	for (size_t i = 0, end; i < tree->nr; i = end) {
		end = i + 1;
		while (end < tree->nr && read_alike(tree, order[i], order[end]))
			end++;
		mark_namesakes(tree, &order[i], end - i);
	}
	free(order);
	return 0;
}

/*
 * Returns the depth of each node, 0 for the root. Parents come before their children. The caller
 * frees the array; NULL: no memory.
 */
static uint32_t *find_depths(const struct profile_trees *of)
{
	uint32_t *depths = calloc(of->nr + 1UL, sizeof(*depths));

	for (uint32_t i = 1; depths && i < of->nr; i++)
		depths[i] = depths[of->nodes[i].parent] + 1;
	return depths;
}

int report_tree_init(struct report_tree *tree, const struct profile_trees *of,
                     const struct view_query *query, const struct profile_view *view)
{
	uint64_t least = least_of(of->profile, query, view);
	uint32_t max_depth = query->max_depth;
	uint32_t *sums = calloc(of->nr + 1UL, sizeof(*sums));
	uint32_t *depths = find_depths(of);
	int err = -ENOMEM;

	*tree = (struct report_tree){
		.profile = of->profile,
		.of = of,
		.least = least,
		.branches = calloc(count_most(of, least), sizeof(*tree->branches)),
	};
	if (sums && depths && tree->branches) {
		collect(tree, sums, depths, max_depth && max_depth < DEEPEST ? max_depth : DEEPEST);
		if (view->direction == PROFILE_ALL)
			collect_unsampled(tree, sums);
		ARRAY_SORT(tree->branches, tree->nr, compare_branches);
		err = find_namesakes(tree);
	}
	if (err)
		report_tree_fini(tree);
	free(depths);
	free(sums);
	return err;
}

void report_tree_fini(struct report_tree *tree)
{
	free(tree->branches);
	tree->branches = NULL;
}

const struct report_branch *report_tree_children(const struct report_tree *tree, uint32_t node,
                                                 size_t *nr)
{
	size_t first = ARRAY_PARTITION(tree->branches, tree->nr, branch, branch->parent < node);

	*nr = 0;
	while (first + *nr < tree->nr && tree->branches[first + *nr].parent == node)
		++*nr;
	return &tree->branches[first];
}
