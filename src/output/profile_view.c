#include "output/profile_build.h"
#include "output/profile_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One chain of callers read backwards for each call of the function: quadratic at worst. */
#define MAX_NODES (1u << 22)

struct viewer {
	const struct profile *profile;
	const struct profile_view *view;
	bool *wanted; /* by name: whether it is the function's */
	struct profile_node *nodes;
	struct profile_count_table counts; /* of the new nodes */
	uint32_t nr, room;
	struct map64 by_key;
	uint32_t
		*made; /* for each node of the profile the new one + 1; 0: not below the function */
	int err;
};

/* Of functions without a symbol the name has to be made. */
static bool *names_wanted(const struct profile *profile, const char *function)
{
	bool *wanted = calloc(profile->names.nr + 1UL, sizeof(*wanted));
	char *text = malloc(FRAME_TEXT_SIZE);

	for (uint32_t i = 0; wanted && text && i < profile->names.nr; i++)
		wanted[i] = !strcmp(frame_name_symbol(&profile->names, i, text), function);
	if (!text) {
		free(wanted);
		wanted = NULL;
	}
	free(text);
	return wanted;
}

static bool row_wanted(const struct viewer *viewer, uint32_t row)
{
	uint32_t name = viewer->profile->rows[row].name;

	return name != PROFILE_NONE && viewer->wanted[name];
}

/* --- the new trees ---------------------------------------------------------------------------- */

static uint32_t add_node(struct viewer *viewer, uint32_t parent, uint32_t row)
{
	uint32_t wanted = 2 * viewer->room;
	struct profile_node *grown;

	if (viewer->nr == viewer->room) {
		if (viewer->view->direction == PROFILE_CALLERS && viewer->nr >= MAX_NODES)
			viewer->err = -E2BIG;
		grown = viewer->err ? NULL
		                    : reallocarray(viewer->nodes, wanted, sizeof(*viewer->nodes));
		if (!grown) {
			viewer->err = viewer->err ? viewer->err : -ENOMEM;
			return PROFILE_NONE;
		}
		viewer->nodes = grown;
		viewer->room = wanted;
	}
	viewer->nodes[viewer->nr] =
		(struct profile_node){.parent = parent, .row = row & PROFILE_MAX_ROW};
	return viewer->nr++;
}

/* The node below parent for a row; PROFILE_NONE: viewer->err says why. */
static uint32_t child_of(struct viewer *viewer, uint32_t parent, uint32_t row)
{
	uint64_t key = (uint64_t)parent << 32 | row;
	uint32_t node = map64_get(&viewer->by_key, key);

	if (node != PROFILE_NONE)
		return node;
	node = add_node(viewer, parent, row);
	if (node != PROFILE_NONE && map64_add(&viewer->by_key, key, node)) {
		viewer->err = -ENOMEM;
		return PROFILE_NONE;
	}
	return node;
}

/* Roots have the numbers of their classes. */
static uint32_t root_of(const struct viewer *viewer, uint32_t row)
{
	return viewer->profile->rows[row].class;
}

/* Adds what was counted in a call, or in and below it, to that of a new node. */
static void count(struct viewer *viewer, uint32_t node, uint32_t call, bool below)
{
	const struct profile_counts *counts =
		profile_counts_of(&viewer->profile->node_counts, call);

	if (viewer->profile->node_counts.at &&
	    profile_count_more(&viewer->counts, node, below ? NULL : counts, below ? counts : NULL))
		viewer->err = -ENOMEM;
}

/* Counts the callers of a call of the function, from the inside out. */
static void add_callers(struct viewer *viewer, uint32_t outermost)
{
	const struct profile_node *nodes = viewer->profile->nodes;
	uint32_t call = outermost;
	uint64_t total = nodes[call].total;
	uint32_t at = root_of(viewer, nodes[call].row), depth = 0;

	viewer->nodes[at].total += total;
	count(viewer, at, outermost, true);
	for (; nodes[call].parent != PROFILE_NONE; call = nodes[call].parent) {
		if (depth++ == viewer->view->max_depth)
			return;
		at = child_of(viewer, at, nodes[call].row);
		if (at == PROFILE_NONE)
			return;
		viewer->nodes[at].total += total;
		count(viewer, at, outermost, true);
	}
	viewer->nodes[at].self += total;
}

/* Parents come first. */
static void add_nodes(struct viewer *viewer)
{
	const struct profile *profile = viewer->profile;

	for (uint32_t i = 0; i < profile->nr_nodes && !viewer->err; i++) {
		const struct profile_node *node = &profile->nodes[i];
		bool inside = node->parent != PROFILE_NONE && viewer->made[node->parent];
		bool outermost =
			node->parent != PROFILE_NONE && !inside && row_wanted(viewer, node->row);

		if (!inside && !outermost)
			continue;
		if (viewer->view->direction == PROFILE_CALLERS) {
			viewer->made[i] = 1;
			if (outermost && node->total)
				add_callers(viewer, i);
			continue;
		}
		viewer->made[i] = 1 + child_of(viewer,
		                               inside ? viewer->made[node->parent] - 1
		                                      : root_of(viewer, node->row),
		                               node->row);
		if (!viewer->made[i])
			continue;
		viewer->nodes[viewer->made[i] - 1].self += node->self;
		count(viewer, viewer->made[i] - 1, i, false);
	}
}

static void sum_callees(struct viewer *viewer)
{
	for (uint32_t i = viewer->nr; i-- > 0;) {
		viewer->nodes[i].total += viewer->nodes[i].self;
		if (viewer->nodes[i].parent != PROFILE_NONE)
			viewer->nodes[viewer->nodes[i].parent].total += viewer->nodes[i].total;
	}
}

static void describe(const struct viewer *viewer, struct profile_view *view)
{
	const struct profile *profile = viewer->profile;

	view->self = view->total = view->samples = 0;
	view->variance = 0;
	for (uint32_t i = 0; i < profile->nr_classes; i++)
		view->total += viewer->nodes[i].total;
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		if (!row_wanted(viewer, i))
			continue;
		view->self += profile->rows[i].self;
		view->samples += profile->rows[i].samples;
		view->variance += profile->rows[i].variance;
	}
}

static void replace_trees(struct viewer *viewer, struct profile *profile)
{
	free(profile->nodes);
	free(profile->node_counts.at);
	profile->nodes = viewer->nodes;
	profile->node_counts = viewer->counts;
	viewer->counts = (struct profile_count_table){NULL, 0};
	profile->nr_nodes = viewer->nr;
	viewer->nodes = NULL;
	for (uint32_t i = 0; i < profile->nr_classes; i++)
		profile->classes[i].root = i;
}

int profile_view_make(struct profile *profile, struct profile_view *view)
{
	struct viewer viewer = {
		.profile = profile,
		.view = view,
		.wanted = names_wanted(profile, view->function),
		.made = calloc(profile->nr_nodes + 1UL, sizeof(*viewer.made)),
		.nodes = calloc(profile->nr_classes + 1UL, sizeof(*viewer.nodes)),
		.room = profile->nr_classes + 1,
	};

	if (!viewer.wanted || !viewer.made || !viewer.nodes)
		viewer.err = -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_classes && !viewer.err; i++)
		add_node(&viewer, PROFILE_NONE, i);
	if (!viewer.err)
		add_nodes(&viewer);
	if (!viewer.err && view->direction == PROFILE_CALLEES)
		sum_callees(&viewer);
	if (!viewer.err && view->direction == PROFILE_CALLEES && viewer.counts.at)
		viewer.err = profile_sum_tree(&viewer.counts, viewer.nodes, viewer.nr);
	if (!viewer.err) {
		describe(&viewer, view);
		replace_trees(&viewer, profile);
	}
	map64_fini(&viewer.by_key);
	free(viewer.nodes);
	free(viewer.counts.at);
	free(viewer.wanted);
	free(viewer.made);
	return viewer.err;
}
