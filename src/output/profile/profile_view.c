#include "output/text/function_name.h"
#include "output/profile/profile_build.h"
#include "output/profile/profile_view.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One chain of callers read backwards for each call of the function: quadratic at worst. */
#define MAX_NODES (1u << 22)

struct viewer {
	const struct profile *profile;
	const struct profile_view *view;
	bool *wanted; /* by name: whether it is the function's */
	struct path_node *nodes;
	uint64_t *self;
	struct profile_count_table counts; /* of the new sums or nodes */
	struct sum_table sums;
	uint32_t nr;
	struct map64 by_key;
	uint32_t
		*made; /* for each node of the profile the new one + 1; 0: not below the function */
	int err;
};

/*
 * Marks the names that belong to the function. The text of a name without a symbol has to be
 * composed first.
 */
static bool *names_wanted(const struct profile *profile, const char *function)
{
	bool *wanted = calloc(profile->names.nr + 1UL, sizeof(*wanted));
	char *text = malloc(FRAME_TEXT_SIZE);

	for (uint32_t i = 0; wanted && text && i < profile->names.nr; i++)
		wanted[i] =
			function_name_is_in(frame_name_symbol(&profile->names, i, text), function);
	if (!text) {
		free(wanted);
		wanted = NULL;
	}
	free(text);
	return wanted;
}

/* --- the new tree ----------------------------------------------------------------------------- */

/* PROFILE_NONE: viewer->err says why. */
static uint32_t add_node(struct viewer *viewer, uint32_t parent, uint32_t name)
{
	struct path_node node = {.parent = parent, .name = name & PATH_MAX_NAME};

	if (viewer->view->direction == PROFILE_CALLERS && viewer->nr == MAX_NODES)
		viewer->err = -E2BIG;
	else if (ARRAY_ADD(viewer->nodes, viewer->nr, node))
		viewer->err = -ENOMEM;
	else
		return viewer->nr - 1;
	return PROFILE_NONE;
}

/* The node below parent for a name; PROFILE_NONE: viewer->err says why. */
static uint32_t child_of(struct viewer *viewer, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t node = map64_get(&viewer->by_key, key);

	if (node != PROFILE_NONE)
		return node;
	node = add_node(viewer, parent, name);
	if (node != PROFILE_NONE && map64_add(&viewer->by_key, key, node)) {
		viewer->err = -ENOMEM;
		return PROFILE_NONE;
	}
	return node;
}

/* The callers of a call of the function, from the inside out: the outermost that is told of. */
static uint32_t add_callers(struct viewer *viewer, uint32_t call)
{
	const struct path_node *nodes = viewer->profile->nodes;
	uint32_t at = 0;

	for (uint32_t depth = 0; call && at != PROFILE_NONE; call = nodes[call].parent)
		if (depth++ < viewer->view->max_depth)
			at = child_of(viewer, at, nodes[call].name);
	return at;
}

/* Where a node of the profile goes to; its parent has been there. PROFILE_NONE: nowhere. */
static uint32_t new_place(struct viewer *viewer, const struct path_node *node, uint32_t number)
{
	uint32_t above = viewer->made[node->parent] - 1;

	if (above == PROFILE_NONE && !viewer->wanted[node->name])
		return PROFILE_NONE;
	if (viewer->view->direction == PROFILE_CALLEES)
		return child_of(viewer, above == PROFILE_NONE ? 0 : above, node->name);
	return above == PROFILE_NONE ? add_callers(viewer, number) : above;
}

/* Parents come first. */
static void add_nodes(struct viewer *viewer)
{
	const struct profile *profile = viewer->profile;

	for (uint32_t i = 1; i < profile->nr_nodes && !viewer->err; i++)
		viewer->made[i] = 1 + new_place(viewer, &profile->nodes[i], i);
	viewer->self = calloc(viewer->nr + 1UL, sizeof(*viewer->self));
	if (!viewer->self && !viewer->err)
		viewer->err = -ENOMEM;
}

/* Adds what was counted to a new sum or node, from an old one. */
static void count(struct viewer *viewer, uint32_t to, uint32_t from)
{
	const struct profile_count_table *counts = &viewer->profile->counts;

	if (counts->at && profile_count_more(&viewer->counts, to, profile_counts_of(counts, from)))
		viewer->err = -ENOMEM;
}

/* The weights of subsets are what is moved of them. */
static void move_nodes(struct viewer *viewer, struct profile_view *view)
{
	const struct profile *profile = viewer->profile;

	for (uint32_t i = 0; i < profile->nr_nodes && !viewer->err; i++) {
		if (!viewer->made[i])
			continue;
		viewer->self[viewer->made[i] - 1] += profile->self[i];
		view->total += profile->self[i];
		count(viewer, viewer->made[i] - 1, i);
	}
	if (profile->nr_subsets)
		profile->subsets[0].weight = view->total;
}

static void move_sums(struct viewer *viewer, struct profile_view *view)
{
	const struct profile *profile = viewer->profile;

	for (uint32_t i = 0; i < profile->nr_sums && !viewer->err; i++) {
		const struct profile_sum *sum = &profile->sums[i];
		uint32_t node = viewer->made[sum->node] - 1, to;

		if (node == PROFILE_NONE)
			continue;
		to = sum_table_weigh(&viewer->sums, viewer->self, profile->rows, node, sum->row,
		                     sum->self);
		if (to == PROFILE_NONE) {
			viewer->err = -ENOMEM;
			return;
		}
		profile->subsets[profile->rows[sum->row].subset].weight += sum->self;
		view->total += sum->self;
		count(viewer, to, i);
	}
}

static void describe(const struct viewer *viewer, struct profile_view *view)
{
	const struct profile *profile = viewer->profile;

	view->self = view->samples = 0;
	view->variance = 0;
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (row->name == PROFILE_NONE || !viewer->wanted[row->name])
			continue;
		view->self += row->self;
		view->samples += row->samples;
		profile_add_variance(profile, &view->variance, row->variance);
	}
}

static int replace_tree(struct viewer *viewer, struct profile *profile)
{
	free(profile->nodes);
	free(profile->self);
	free(profile->counts.at);
	free(profile->sums);
	profile->nodes = viewer->nodes;
	profile->self = viewer->self;
	profile->counts = viewer->counts;
	profile->nr_nodes = viewer->nr;
	sum_table_give(&viewer->sums, profile);
	viewer->nodes = NULL;
	viewer->self = NULL;
	viewer->counts = (struct profile_count_table){NULL, 0};
	if (profile->sums)
		return 0;
	profile_sum_nodes(profile->nodes, profile->self, profile->nr_nodes);
	return profile_sum_counts(&profile->counts, profile->nodes, profile->nr_nodes);
}

int profile_view_make(struct profile *profile, struct profile_view *view)
{
	struct viewer viewer = {
		.profile = profile,
		.view = view,
		.wanted = names_wanted(profile, view->function),
		.made = calloc(profile->nr_nodes + 1UL, sizeof(*viewer.made)),
	};

	view->total = 0;
	if (!viewer.wanted || !viewer.made)
		viewer.err = -ENOMEM;
	else
		add_node(&viewer, PROFILE_NONE, 0);
	if (!viewer.err)
		add_nodes(&viewer);
	for (uint32_t i = 0; i < profile->nr_subsets; i++)
		profile->subsets[i].weight = 0;
	if (!viewer.err)
		(profile->sums ? move_sums : move_nodes)(&viewer, view);
	if (!viewer.err) {
		describe(&viewer, view);
		viewer.err = replace_tree(&viewer, profile);
	}
	map64_fini(&viewer.by_key);
	sum_table_fini(&viewer.sums);
	free(viewer.nodes);
	free(viewer.self);
	free(viewer.counts.at);
	free(viewer.wanted);
	free(viewer.made);
	return viewer.err;
}
