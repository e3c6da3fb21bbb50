#include "output/profile/profile_build.h"
#include "output/profile/profile_trees.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t sum_subset(const struct profile *profile, uint32_t sum)
{
	return profile->rows[profile->sums[sum].row].subset;
}

/* Sorts the sums by subset. The sums of a subset stay in the order in which they came. */
static void sort_sums(struct profile_trees *trees)
{
	const struct profile *profile = trees->profile;
	uint32_t *start = trees->start;

	for (uint32_t i = 0; i < profile->nr_sums; i++)
		start[sum_subset(profile, i) + 2]++;
	for (uint32_t i = 2; i < profile->nr_subsets + 2; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < profile->nr_sums; i++)
		trees->order[start[sum_subset(profile, i) + 1]++] = i;
}

int profile_trees_init(struct profile_trees *trees, const struct profile *profile)
{
	*trees = (struct profile_trees){.profile = profile};
	if (!profile->sums) {
		trees->nodes = profile->nodes;
		trees->self = profile->self;
		trees->counts = profile->counts;
		trees->nr = profile->nr_nodes;
		return 0;
	}
	trees->order = calloc(profile->nr_sums + 1UL, sizeof(*trees->order));
	trees->start = calloc(profile->nr_subsets + 2UL, sizeof(*trees->start));
	trees->at = calloc(profile->nr_nodes + 1UL, sizeof(*trees->at));
	if (!trees->order || !trees->start || !trees->at)
		return -ENOMEM;
	sort_sums(trees);
	return 0;
}

void profile_trees_fini(struct profile_trees *trees)
{
	if (trees->profile && trees->profile->sums) {
		free(trees->nodes);
		free(trees->self);
		free(trees->counts.at);
	}
	free(trees->order);
	free(trees->start);
	free(trees->at);
	free(trees->origins);
	*trees = (struct profile_trees){0};
}

/* --- one tree --------------------------------------------------------------------------------- */

static int make_room(struct profile_trees *trees, uint32_t nr)
{
	uint32_t nodes = trees->room, self = nodes, origins = nodes;

	if (ARRAY_RESERVE(trees->nodes, nodes, nr) || ARRAY_RESERVE(trees->self, self, nr) ||
	    ARRAY_RESERVE(trees->origins, origins, nr))
		return -ENOMEM;
	trees->room = nodes;
	return 0;
}

static bool is_there(const struct profile_trees *trees, uint32_t node)
{
	return trees->at[node] < trees->nr && trees->origins[trees->at[node]] == node;
}

static void put_node(struct profile_trees *trees, uint32_t at, uint32_t origin, uint32_t parent)
{
	trees->nodes[at] = (struct path_node){
		.parent = parent,
		.name = trees->profile->nodes[origin].name,
	};
	trees->self[at] = 0;
	trees->origins[at] = origin;
	trees->at[origin] = at;
}

/*
 * Adds a node and the missing nodes of its path. They are found from the leaf outward and numbered
 * from the root down.
 */
static int add_path(struct profile_trees *trees, uint32_t node)
{
	const struct path_node *nodes = trees->profile->nodes;
	uint32_t nr = trees->nr, above = node;

	for (; !is_there(trees, above); above = nodes[above].parent)
		nr++;
	if (make_room(trees, nr))
		return -ENOMEM;
	for (uint32_t i = nr; i-- > trees->nr; node = nodes[node].parent)
		put_node(trees, i, node, i > trees->nr ? i - 1 : trees->at[above]);
	trees->nr = nr;
	return 0;
}

static int add_sum(struct profile_trees *trees, uint32_t number)
{
	const struct profile *profile = trees->profile;
	const struct profile_sum *sum = &profile->sums[number];

	if (add_path(trees, sum->node))
		return -ENOMEM;
	trees->self[trees->at[sum->node]] += sum->self;
	if (!profile->counts.at)
		return 0;
	return profile_count_more(&trees->counts, trees->at[sum->node],
	                          profile_counts_of(&profile->counts, number));
}

int profile_trees_make(struct profile_trees *trees, uint32_t subset)
{
	int err;

	if (!trees->order)
		return 0;
	trees->first = trees->order + trees->start[subset];
	trees->end = trees->order + trees->start[subset + 1];
	free(trees->counts.at);
	trees->counts = (struct profile_count_table){NULL, 0};
	trees->nr = 0;
	err = make_room(trees, 1);
	if (err)
		return err;
	put_node(trees, trees->nr++, 0, PROFILE_NONE);
	for (const uint32_t *sum = trees->first; sum < trees->end && !err; sum++)
		err = add_sum(trees, *sum);
	if (err)
		return err;
	profile_sum_nodes(trees->nodes, trees->self, trees->nr);
	err = profile_sum_counts(&trees->counts, trees->nodes, trees->nr);
	profile_weigh_nodes(trees->profile, trees->nodes, trees->self, trees->nr, &trees->counts);
	return err;
}
