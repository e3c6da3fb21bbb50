/* What is below every node of a profile's trees, added up. */
#include "output/profile_build.h"

#include <errno.h>
#include <stdlib.h>

#define AHEAD 16 /* nodes to ask for */

/* Adds every node to its parent; sizes: of the trees below nodes, to be zeros. */
static void sum_up(struct profile *profile, uint32_t *sizes)
{
	struct profile_node *nodes = profile->nodes;

	for (uint32_t i = 0; i < profile->nr_nodes; i++)
		nodes[i].total = nodes[i].self;
	for (uint32_t i = profile->nr_nodes; i-- > 0;) {
		sizes[i]++;
		if (nodes[i].parent == PROFILE_NONE)
			continue;
		nodes[nodes[i].parent].total += nodes[i].total;
		sizes[nodes[i].parent] += sizes[i];
	}
}

/*
 * The numbers of all nodes in an order in which every tree stands in one piece behind its root. Of
 * the sizes of trees the ends of these pieces become.
 */
static void put_in_order(const struct profile *profile, uint32_t *sizes, uint32_t *order)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < profile->nr_nodes; i++) {
		uint32_t parent = profile->nodes[i].parent, size = sizes[i];
		uint32_t *next = parent == PROFILE_NONE ? &end : &sizes[parent];

		order[*next] = i;
		sizes[i] = *next + 1;
		*next += size;
	}
}

/* Back up from a node until the way down goes on below `parent`. */
static void leave(const struct profile_node *nodes, uint32_t at, uint32_t parent,
                  uint32_t *on_the_way)
{
	for (; at != parent && at != PROFILE_NONE; at = nodes[at].parent)
		if (nodes[at].parent != PROFILE_NONE)
			on_the_way[nodes[at].row]--;
}

/* Adds nodes to rows, with a count for each row of how often it is on the way to a node. */
static void sum_rows(struct profile *profile, const uint32_t *order, uint32_t *on_the_way)
{
	struct profile_node *nodes = profile->nodes;
	uint32_t at = PROFILE_NONE;

	for (uint32_t i = 0; i < profile->nr_nodes; i++) {
		struct profile_node *node = &nodes[order[i]];

		if (i + AHEAD < profile->nr_nodes)
			__builtin_prefetch(&nodes[order[i + AHEAD]]);
		leave(nodes, at, node->parent, on_the_way);
		at = order[i];
		if (node->parent == PROFILE_NONE)
			continue;
		node->recursive = on_the_way[node->row]++ > 0;
		if (!node->recursive)
			profile->rows[node->row].total += node->total;
	}
}

int profile_sum(struct profile *profile)
{
	uint32_t *sizes = calloc(profile->nr_nodes + 1UL, sizeof(*sizes));
	uint32_t *order = calloc(profile->nr_nodes + 1UL, sizeof(*order));
	uint32_t *on_the_way = calloc(profile->nr_rows + 1UL, sizeof(*on_the_way));
	int err = sizes && order && on_the_way ? 0 : -ENOMEM;

	if (!err) {
		sum_up(profile, sizes);
		put_in_order(profile, sizes, order);
		sum_rows(profile, order, on_the_way);
	}
	free(sizes);
	free(order);
	free(on_the_way);
	return err;
}
