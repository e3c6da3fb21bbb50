/* What is below every node of a profile's trees, added up. */
#include "output/profile_build.h"

#include <errno.h>
#include <stdlib.h>

static void enter(struct profile_node *node, uint32_t *on_the_way)
{
	node->recursive = on_the_way[node->row]++ > 0;
}

/*
 * Goes down a tree and back up, with a count for each row of how often it is on the way: so every
 * node is looked at once, however deep it is.
 */
static void mark_recursion(struct profile_node *nodes, uint32_t root, uint32_t *on_the_way)
{
	uint32_t at = root;

	for (;;) {
		if (nodes[at].links.child) {
			at = nodes[at].links.child;
			enter(&nodes[at], on_the_way);
			continue;
		}
		for (; at != root; at = nodes[at].parent) {
			on_the_way[nodes[at].row]--;
			if (nodes[at].links.sibling)
				break;
		}
		if (at == root)
			return;
		at = nodes[at].links.sibling;
		enter(&nodes[at], on_the_way);
	}
}

static int find_recursion(struct profile *profile)
{
	uint32_t *on_the_way = calloc(profile->nr_rows + 1UL, sizeof(*on_the_way));

	if (!on_the_way)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_classes; i++)
		mark_recursion(profile->nodes, profile->classes[i].root, on_the_way);
	free(on_the_way);
	return 0;
}

int profile_sum(struct profile *profile)
{
	int err = find_recursion(profile);

	if (err)
		return err;
	for (uint32_t i = 0; i < profile->nr_nodes; i++)
		profile->nodes[i].total = profile->nodes[i].self;
	for (uint32_t i = profile->nr_nodes; i-- > 0;) {
		struct profile_node *node = &profile->nodes[i];

		if (node->parent == PROFILE_NONE)
			continue;
		profile->nodes[node->parent].total += node->total;
		if (!node->recursive)
			profile->rows[node->row].total += node->total;
	}
	return 0;
}
