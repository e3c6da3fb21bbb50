#include "output/views/subset_rows.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define AHEAD 16 /* nodes to ask for */

int subset_rows_init(struct subset_rows *rows, const struct profile_trees *trees)
{
	size_t nr = trees->profile->names.nr + 1UL;

	*rows = (struct subset_rows){
		.trees = trees,
		.by_name = calloc(nr, sizeof(*rows->by_name)),
		.on_the_way = calloc(nr, sizeof(*rows->on_the_way)),
	};
	return rows->by_name && rows->on_the_way ? 0 : -ENOMEM;
}

void subset_rows_fini(struct subset_rows *rows)
{
	free(rows->rows);
	free(rows->by_name);
	free(rows->on_the_way);
	*rows = (struct subset_rows){0};
}

/* --- which there are -------------------------------------------------------------------------- */

static int add_row(struct subset_rows *rows, const struct subset_row *row)
{
	struct subset_row *grown = array_reach(rows->rows, rows->nr, &rows->most, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	rows->rows = grown;
	rows->rows[rows->nr++] = *row;
	return 0;
}

/* The rows of the functions of nodes from *node to the last one, where there are none yet. */
static int meet(struct subset_rows *rows, uint32_t subset, uint32_t *node, uint32_t last,
                uint64_t order)
{
	int err = 0;

	for (; *node <= last && !err; ++*node) {
		uint32_t name = rows->trees->nodes[*node].name;
		const struct subset_row row = {subset, name, PROFILE_NONE, 0, order | *node};

		if (rows->by_name[name])
			continue;
		err = add_row(rows, &row);
		rows->by_name[name] = rows->nr;
	}
	return err;
}

static void link_row(struct subset_rows *rows, uint32_t row)
{
	uint32_t name = rows->trees->profile->rows[row].name;

	if (name != PROFILE_NONE && rows->by_name[name])
		rows->rows[rows->by_name[name] - 1].row = row;
}

/* All nodes of a profile without sums are of one subset, and come in their order. */
static int meet_all(struct subset_rows *rows, uint32_t subset)
{
	const struct profile *profile = rows->trees->profile;
	uint32_t node = 1;
	int err = meet(rows, subset, &node, rows->trees->nr - 1, 0);

	for (uint32_t i = 0; i < profile->nr_rows && !err; i++)
		if (profile->rows[i].samples)
			link_row(rows, i);
	return err;
}

/* A sum came with all of its path that was not there yet. */
static int meet_sums(struct subset_rows *rows, uint32_t subset)
{
	const struct profile_trees *trees = rows->trees;
	uint32_t node = 1;
	int err = 0;

	for (const uint32_t *i = trees->first; i < trees->end && !err; i++) {
		const struct profile_sum *sum = &trees->profile->sums[*i];

		err = meet(rows, subset, &node, trees->at[sum->node], (uint64_t)*i << 32);
		link_row(rows, sum->row);
	}
	return err;
}

/* --- what is below their nodes ---------------------------------------------------------------- */

/*
 * The numbers of all nodes in an order in which every tree stands in one piece behind its root.
 * ends: zeros, which become the sizes of trees and then the ends of these pieces.
 */
static void put_in_order(const struct profile_trees *trees, uint32_t *ends, uint32_t *order)
{
	const struct path_node *nodes = trees->nodes;

	for (uint32_t i = trees->nr; i-- > 1;)
		ends[nodes[i].parent] += ++ends[i];
	order[0] = 0;
	ends[0] = 1;
	for (uint32_t i = 1; i < trees->nr; i++) {
		uint32_t size = ends[i], *next = &ends[nodes[i].parent];

		order[*next] = i;
		ends[i] = *next + 1;
		*next += size;
	}
}

/* Back up from a node until the way down goes on below `parent`. */
static void leave(struct subset_rows *rows, uint32_t at, uint32_t parent)
{
	const struct path_node *nodes = rows->trees->nodes;

	for (; at != parent && at; at = nodes[at].parent)
		rows->on_the_way[nodes[at].name]--;
}

static void sum_rows(struct subset_rows *rows, const uint32_t *order)
{
	const struct path_node *nodes = rows->trees->nodes;
	uint32_t nr = rows->trees->nr, at = 0;

	for (uint32_t i = 1; i < nr; i++) {
		const struct path_node *node = &nodes[order[i]];

		if (i + AHEAD < nr)
			__builtin_prefetch(&nodes[order[i + AHEAD]]);
		leave(rows, at, node->parent);
		at = order[i];
		if (!rows->on_the_way[node->name]++)
			rows->rows[rows->by_name[node->name] - 1].total += node->total;
	}
	leave(rows, at, 0);
}

static int sum(struct subset_rows *rows)
{
	uint32_t *ends = calloc(rows->trees->nr + 1UL, sizeof(*ends));
	uint32_t *order = calloc(rows->trees->nr + 1UL, sizeof(*order));
	int err = ends && order ? 0 : -ENOMEM;

	if (!err) {
		put_in_order(rows->trees, ends, order);
		sum_rows(rows, order);
	}
	free(ends);
	free(order);
	return err;
}

int subset_rows_make(struct subset_rows *rows, uint32_t subset)
{
	int err;

	for (uint32_t i = 0; i < rows->nr; i++)
		rows->by_name[rows->rows[i].name] = 0;
	rows->nr = 0;
	err = rows->trees->order ? meet_sums(rows, subset) : meet_all(rows, subset);
	return err ? err : sum(rows);
}
