/*
 * A flame graph as one SVG: a box for every call path, as wide as its weight, callees above their
 * callers and the heaviest at the left. The script in it (flamegraph_script.h) zooms and searches;
 * without scripts the picture stays what it is.
 *
 * Boxes that nobody could see are left out, so that the file stays small.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/convert/flamegraph_script.h"
#include "output/profile/profile_trees.h"
#include "output/text/text.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define WIDTH      1200.0
#define HEAD       64
#define ROW        17
#define LETTER     7.2 /* about the width of one */
#define MAX_BOXES  20000
#define LEAST_PART 20000 /* of the whole, that is drawn */

struct flame {
	const struct conversion *conversion;
	const struct trace *trace;
	const struct profile *profile;
	FILE *file;
	struct path_node *nodes; /* that are drawn; a command's root has its subset for a name */
	uint64_t *self;
	uint32_t nr;
	size_t most;            /* nodes at once so far */
	uint32_t *start, *kids; /* children of node i: kids[start[i] … start[i + 1]); last: roots */
	uint64_t *left;         /* weight to the left of a node */
	uint32_t *depth;        /* the roots' is 1: 0 is the whole */
	uint64_t least;         /* weight of what is drawn */
	uint32_t deepest;
	uint64_t nr_left_out;
};

/* --- what is drawn ---------------------------------------------------------------------------- */

static int add_node(struct flame *flame, const struct path_node *node, uint64_t self)
{
	size_t most = flame->most;
	struct path_node *nodes = array_reach(flame->nodes, flame->nr, &most, sizeof(*nodes));
	uint64_t *grown;

	if (!nodes)
		return -ENOMEM;
	flame->nodes = nodes;
	grown = array_reach(flame->self, flame->nr, &flame->most, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	flame->self = grown;
	flame->self[flame->nr] = self;
	flame->nodes[flame->nr++] = *node;
	return 0;
}

/* Adds those of a tree, or of several, that are large enough; no node is larger than its parent. */
static int add_large(struct flame *flame, const struct path_node *nodes, const uint64_t *self,
                     uint32_t nr)
{
	uint32_t *numbers = calloc(nr + 1UL, sizeof(*numbers));
	int err = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < nr && !err; i++) {
		struct path_node node = nodes[i];

		if (!node.total || node.total < flame->least) {
			flame->nr_left_out++;
			continue;
		}
		if (node.parent != PROFILE_NONE)
			node.parent = numbers[node.parent];
		numbers[i] = flame->nr;
		err = add_node(flame, &node, self[i]);
	}
	free(numbers);
	return err;
}

/* Drops the smallest boxes until no more are left than are drawn. */
static int drop_small(struct flame *flame)
{
	int err = 0;

	while (flame->nr > MAX_BOXES && !err) {
		uint32_t nr = flame->nr;

		flame->nr = 0;
		flame->least += flame->least / 2 + 1;
		err = add_large(flame, flame->nodes, flame->self, nr);
	}
	return err;
}

static int add_subset(struct flame *flame, struct profile_trees *trees, uint32_t subset)
{
	uint32_t root = flame->nr;
	int err = profile_trees_make(trees, subset);

	if (!err)
		err = add_large(flame, trees->nodes, trees->self, trees->nr);
	if (!err && flame->nr > root)
		flame->nodes[root].name = subset & PATH_MAX_NAME;
	return err ? err : drop_small(flame);
}

static int collect(struct flame *flame)
{
	const struct profile *profile = flame->profile;
	struct profile_trees trees;
	int err = profile_trees_init(&trees, profile);

	flame->least = profile->total / LEAST_PART;
	for (uint32_t i = 0; i < profile->nr_subsets && !err; i++)
		if (profile->subsets[i].weight)
			err = add_subset(flame, &trees, i);
	profile_trees_fini(&trees);
	return err;
}

/* --- the layout ------------------------------------------------------------------------------- */

static uint32_t parent_of(const struct flame *flame, uint32_t node)
{
	uint32_t parent = flame->nodes[node].parent;

	return parent == PROFILE_NONE ? flame->nr : parent;
}

static int compare_kids(const void *a, const void *b, void *arg)
{
	const struct path_node *nodes = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(nodes[y].total, nodes[x].total) ?: ORDER(x, y);
}

/* Sorts the nodes by parent, and by weight below one. */
static void find_kids(struct flame *flame)
{
	uint32_t nr = flame->nr;

	for (uint32_t i = 0; i < nr; i++)
		flame->start[parent_of(flame, i) + 2]++;
	for (uint32_t i = 1; i <= nr + 1; i++)
		flame->start[i + 1] += flame->start[i];
	for (uint32_t i = 0; i < nr; i++)
		flame->kids[flame->start[parent_of(flame, i) + 1]++] = i;
	for (uint32_t i = 0; i <= nr; i++)
		ARRAY_SORT_WITH(flame->kids + flame->start[i],
		                flame->start[i + 1] - flame->start[i], compare_kids, flame->nodes);
}

static void place_kids(struct flame *flame, uint32_t node, uint64_t left, uint32_t depth)
{
	for (uint32_t i = flame->start[node]; i < flame->start[node + 1]; i++) {
		uint32_t kid = flame->kids[i];

		flame->left[kid] = left;
		flame->depth[kid] = depth;
		left += flame->nodes[kid].total;
	}
}

/* Parents come before their children, so a node's place is known when it is met. */
static void place_nodes(struct flame *flame)
{
	place_kids(flame, flame->nr, 0, 1);
	for (uint32_t i = 0; i < flame->nr; i++) {
		place_kids(flame, i, flame->left[i], flame->depth[i] + 1);
		if (flame->depth[i] > flame->deepest)
			flame->deepest = flame->depth[i];
	}
}

/* --- the picture ------------------------------------------------------------------------------ */

struct box {
	const char *name, *more; /* more: behind the name, after a blank; NULL: nothing */
	uint64_t left, self, total;
	uint32_t depth;
	bool kernel;
};

/* Warm colours by name, so that a function looks the same everywhere; the kernel's are colder. */
static void print_fill(const struct flame *flame, const struct box *box)
{
	uint32_t hash = 2166136261;

	for (const char *c = box->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619;
	if (!box->depth)
		fputs("rgb(210,210,210)", flame->file);
	else if (box->kernel)
		fprintf(flame->file, "rgb(%u,%u,235)", 130 + hash % 50, 170 + (hash >> 8) % 40);
	else
		fprintf(flame->file, "rgb(%u,%u,%u)", 225 + hash % 30, 110 + (hash >> 8) % 110,
		        50 + (hash >> 16) % 50);
}

static void print_weight(const struct flame *flame, uint64_t weight)
{
	const struct profile *profile = flame->profile;
	char text[TEXT_SIZE];

	text_quantity(text, (double)weight, convert_weight_unit(flame->conversion));
	fputs(text, flame->file);
	if (profile->total)
		fprintf(flame->file, ", %.2f %%", percent((double)weight, profile->total));
}

/* Prints as much of the name as fits into the box. */
static void print_label(const struct flame *flame, const struct box *box, double width)
{
	unsigned room = width > 3 * LETTER ? (unsigned)(width / LETTER) - 1 : 0;
	const char *at = box->name;
	char bytes[5];
	uint32_t c;

	while (room-- && (c = escape_next(&at))) {
		bytes[escape_encode(c, bytes)] = 0;
		escape_xml(flame->file, bytes);
	}
}

static void print_box(const struct flame *flame, const struct box *box)
{
	double scale = flame->profile->total ? WIDTH / (double)flame->profile->total : 0;
	double x = (double)box->left * scale;
	double width = box->depth ? (double)box->total * scale : WIDTH;
	uint32_t y = HEAD + (flame->deepest - box->depth) * ROW;

	fprintf(flame->file,
	        "<g class=\"f\" data-self=\"%" PRIu64 "\" data-total=\"%" PRIu64 "\"><title>",
	        box->self, box->total);
	escape_xml(flame->file, box->name);
	if (box->more)
		fprintf(flame->file, " %s", box->more);
	fputs(" (", flame->file);
	print_weight(flame, box->total);
	fprintf(flame->file,
	        ")</title><rect x=\"%.4f\" y=\"%" PRIu32 "\" width=\"%.4f\" height=\"%d\" "
	        "fill=\"",
	        x, y, width, ROW - 1);
	print_fill(flame, box);
	fprintf(flame->file, "\"/><text x=\"%.2f\" y=\"%" PRIu32 "\">", x + 3, y + ROW - 5);
	print_label(flame, box, width);
	fputs("</text></g>\n", flame->file);
}

static void print_node(const struct flame *flame, uint32_t number)
{
	const struct profile *profile = flame->profile;
	const struct path_node *node = &flame->nodes[number];
	char text[FRAME_TEXT_SIZE];
	struct box box = {
		.left = flame->left[number],
		.self = flame->self[number],
		.total = node->total,
		.depth = flame->depth[number],
	};

	if (node->parent == PROFILE_NONE) {
		box.name = trace_command_name(flame->trace, profile->subsets[node->name].comm);
	} else {
		uint64_t frame = profile->names.names[node->name].frame;
		const struct trace_module *module = trace_module(flame->trace, frame_module(frame));

		box.name = frame_name_symbol(&profile->names, node->name, text);
		box.kernel = frame_module(frame) && module && module->type == MODULE_KERNEL;
	}
	print_box(flame, &box);
}

/* Prints weights that no sample stands for, to the right of all sampled ones. */
static void print_unsampled(const struct flame *flame)
{
	const struct profile *profile = flame->profile;
	uint64_t left = profile->sampled;

	for (uint32_t i = 0; i < profile->nr_unsampled; i++) {
		uint64_t weight = profile->rows[profile->unsampled[i].row].self;
		struct box box = {
			.name = trace_command_name(flame->trace, profile->unsampled[i].comm),
			.more = profile_unsampled_name(&profile->unsampled[i]),
			.left = left,
			.self = weight,
			.total = weight,
			.depth = 1,
		};

		print_box(flame, &box);
		left += weight;
	}
}

static void print_head(const struct flame *flame)
{
	uint32_t height = HEAD + (flame->deepest + 1) * ROW + 8;

	fprintf(flame->file,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %" PRIu32 "\" "
	        "width=\"%d\" height=\"%" PRIu32 "\">\n<style>%s</style>\n"
	        "<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
	        (int)WIDTH, height, (int)WIDTH, height, flamegraph_style);
}

/* Above the picture, and in front of it where that is scrolled. */
static int print_bar(const struct flame *flame)
{
	char *title = convert_title(flame->conversion);

	if (!title)
		return -ENOMEM;
	fputs("<g id=\"bar\"><rect class=\"ground\" width=\"100%\" height=\"56\"/>\n"
	      "<text id=\"head\" x=\"10\" y=\"20\">",
	      flame->file);
	escape_xml(flame->file, convert_weight_name(flame->conversion));
	fputs(": ", flame->file);
	escape_xml(flame->file, title);
	free(title);
	fputs("</text>\n<text id=\"what\" x=\"10\" y=\"44\">", flame->file);
	if (flame->nr_left_out)
		fprintf(flame->file, "%" PRIu64 " call paths are too narrow to be drawn",
		        flame->nr_left_out);
	fputs(" </text>\n<text id=\"reset\" class=\"button\" x=\"1000\" y=\"44\">reset "
	      "zoom</text>\n"
	      "<text id=\"search\" class=\"button\" x=\"1120\" y=\"44\">search</text>\n"
	      "<text id=\"matched\" x=\"700\" y=\"44\"> </text></g>\n",
	      flame->file);
	return 0;
}

static int print_picture(const struct flame *flame)
{
	struct box all = {.name = "all", .total = flame->profile->total};
	int err;

	print_head(flame);
	fprintf(flame->file, "<g id=\"frames\" data-left-out=\"%" PRIu64 "\">\n",
	        flame->nr_left_out);
	print_box(flame, &all);
	for (uint32_t i = 0; i < flame->nr; i++)
		print_node(flame, i);
	print_unsampled(flame);
	fputs("</g>\n", flame->file);
	err = print_bar(flame);
	fprintf(flame->file, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flamegraph_script);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int draw(struct flame *flame)
{
	int err = collect(flame);
	size_t nr = flame->nr;

	if (err)
		return err;
	flame->start = calloc(nr + 3, sizeof(*flame->start));
	flame->kids = calloc(nr + 1, sizeof(*flame->kids));
	flame->left = calloc(nr + 1, sizeof(*flame->left));
	flame->depth = calloc(nr + 1, sizeof(*flame->depth));
	if (flame->start && flame->kids && flame->left && flame->depth) {
		flame->deepest = flame->profile->nr_unsampled ? 1 : 0;
		find_kids(flame);
		place_nodes(flame);
		err = print_picture(flame);
	} else {
		err = -ENOMEM;
	}
	free(flame->start);
	free(flame->kids);
	free(flame->left);
	free(flame->depth);
	return err;
}

int flamegraph_write(struct conversion *conversion, FILE *file)
{
	struct profile *profile = convert_profile(conversion);
	struct flame flame = {
		.conversion = conversion,
		.trace = conversion->trace,
		.profile = profile,
		.file = file,
	};
	int err;

	if (!profile)
		return -errno;
	err = draw(&flame);
	free(flame.nodes);
	free(flame.self);
	profile_free(profile);
	return err;
}
