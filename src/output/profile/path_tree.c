#include "output/profile/path_tree.h"

#include "base/large_array.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

#define CHAIN_SIZE (1 << 13) /* the deepest stack; a corrupt file may have a circle of callers */

struct chain_link {
	uint64_t frame;
	uint32_t context;
};

/* --- children --------------------------------------------------------------------------------- */

/*
 * Most nodes have one or two children, which are in a list. All children of a node with more are in
 * a hash table, as a function may call thousands of others.
 */
#define MAX_NARROW 2

static int put_into_table(struct path_tree *tree, uint32_t node)
{
	const struct path_node *entry = &tree->nodes[node];

	return hash_slots_put(&tree->children, node, node_hash(entry->parent, entry->name));
}

static int widen(struct path_tree *tree, uint32_t parent)
{
	struct path_node *nodes = tree->nodes;
	int err = 0;

	nodes[parent].wide = 1;
	for (uint32_t i = nodes[parent].links.child; i && !err; i = nodes[i].links.sibling)
		err = put_into_table(tree, i);
	return err;
}

static uint32_t find_wide_child(const struct path_tree *tree, uint32_t parent, uint32_t name)
{
	const struct path_node *nodes = tree->nodes;
	const struct hash_slot *slot = hash_slots_first(&tree->children, node_hash(parent, name));

	while (slot &&
	       (nodes[slot->node - 1].parent != parent || nodes[slot->node - 1].name != name))
		slot = hash_slots_next(&tree->children, slot);
	return slot ? slot->node - 1 : PATH_NONE;
}

/*
 * Returns the child with this name, or PATH_NONE. Then *nr is the number of children in the list.
 */
static uint32_t find_child(const struct path_tree *tree, uint32_t parent, uint32_t name,
                           unsigned *nr)
{
	const struct path_node *nodes = tree->nodes;
	uint32_t i;

	*nr = 0;
	if (nodes[parent].wide)
		return find_wide_child(tree, parent, name);
	for (i = nodes[parent].links.child; i; i = nodes[i].links.sibling, ++*nr)
		if (nodes[i].name == name)
			return i;
	return PATH_NONE;
}

static uint32_t add_node(struct path_tree *tree)
{
	if (tree->with_self && large_array_add((void **)&tree->self, &tree->nr_self,
	                                       &tree->self_room, sizeof(*tree->self)) == PATH_NONE)
		return PATH_NONE;
	return large_array_add((void **)&tree->nodes, &tree->nr, &tree->room, sizeof(*tree->nodes));
}

static int add_child(struct path_tree *tree, uint32_t parent, uint32_t node, uint32_t name)
{
	struct path_node *nodes = tree->nodes;

	nodes[node].parent = parent;
	nodes[node].name = name & PATH_MAX_NAME;
	nodes[node].links.sibling = nodes[parent].links.child;
	nodes[parent].links.child = node;
	return nodes[parent].wide ? put_into_table(tree, node) : 0;
}

/* PATH_NONE: no memory. */
static uint32_t child_of(struct path_tree *tree, uint32_t parent, uint32_t name)
{
	unsigned nr;
	uint32_t node = find_child(tree, parent, name, &nr);

	if (node != PATH_NONE)
		return node;
	if (nr == MAX_NARROW && widen(tree, parent))
		return PATH_NONE;
	node = add_node(tree);
	return node == PATH_NONE || add_child(tree, parent, node, name) ? PATH_NONE : node;
}

/* --- frames ----------------------------------------------------------------------------------- */

/*
 * Callers deeper than this get no nodes for the functions that were inlined in them: a corrupt file
 * may have inlined functions at every frame.
 */
#define MAX_INLINED_DEPTH 1024

static bool is_deep(const struct path_tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = tree->nodes[node].parent)
		if (++depth == MAX_INLINED_DEPTH)
			return true;
	return false;
}

/* Returns the node below `parent` for a frame: the node of its innermost function. */
static uint32_t find_frame(struct path_tree *tree, uint32_t parent, uint64_t frame, bool leaf)
{
	const uint32_t *names;
	uint32_t nr = frame_names_chain(tree->names, frame, &names);

	if (!nr)
		return PATH_NONE;
	if (nr > 1 && !leaf && !tree->whole && is_deep(tree, parent))
		nr = 1;
	for (; nr && parent != PATH_NONE; nr--)
		parent = child_of(tree, parent, *names++);
	return parent;
}

/* --- contexts --------------------------------------------------------------------------------- */

/* number: the context's. */
static uint32_t known_context(const struct path_tree *tree, uint32_t number)
{
	return number == UINT32_MAX ? PATH_NONE : tree->context_nodes[number] - 1;
}

/*
 * Collects the contexts from this one up to the first that has a node, and returns that node. If
 * none has, returns the node below which the last context is added: [truncated] if the context
 * reaches no root in the file.
 */
static uint32_t climb(struct path_tree *tree, uint32_t context, uint32_t *depth)
{
	const struct trace *trace = tree->names->trace;
	uint32_t node, above;
	uint64_t frame;

	for (*depth = 0; context != NODE_NONE; ++*depth) {
		node = known_context(tree, trace_node_number(trace, context));
		if (node != PATH_NONE)
			return node;
		if (*depth == CHAIN_SIZE || !trace_node(trace, context, &frame, &above))
			return find_frame(tree, 0, FRAME_TRUNCATED, false);
		tree->chain[*depth] = (struct chain_link){frame, context};
		context = above;
	}
	return 0;
}

static uint32_t find_context(struct path_tree *tree, uint32_t context)
{
	uint32_t depth, node = climb(tree, context, &depth);

	while (depth && node != PATH_NONE) {
		const struct chain_link *link = &tree->chain[--depth];

		node = find_frame(tree, node, link->frame, false);
		/* A context that could be read has a number. */
		if (node != PATH_NONE)
			tree->context_nodes[trace_node_number(tree->names->trace, link->context)] =
				node + 1;
	}
	return node;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* NULL: it has none. 0 at the first of samples that are the same. */
static uint32_t *pair_of(const struct path_tree *tree, const struct trace_sample *sample)
{
	uint32_t *pair = sample->pair < tree->nr_pairs ? &tree->pairs[sample->pair] : NULL;

	if (pair && !sample->again)
		*pair = 0;
	return pair;
}

/* known: the node, or PATH_NONE. */
static uint32_t find_sample(struct path_tree *tree, const struct trace_sample *sample,
                            uint32_t known)
{
	uint32_t *pair = pair_of(tree, sample);
	uint32_t node = known;

	if (node == PATH_NONE && pair && *pair)
		return *pair - 1;
	if (node == PATH_NONE) {
		node = tree->flat ? 0 : find_context(tree, sample->context);
		if (node != PATH_NONE)
			node = find_frame(tree, node, sample->leaf, true);
	}
	if (pair && node != PATH_NONE)
		*pair = node + 1;
	return node;
}

/* --- looking ahead ---------------------------------------------------------------------------- */

/*
 * A sample by itself would wait for memory several times. Those of a batch wait together: each step
 * asks for what the next one needs, and the last one has found the nodes that there are already.
 */

/* Contexts that are followed for a new path before it is added. */
#define MAX_NEW 32

/* The search for a sample's node before it is added. PATH_NONE: unknown. */
struct errand {
	uint32_t node;         /* where it ends */
	uint32_t number;       /* of its context */
	uint32_t parent, name; /* where a new part of the path would begin */
	uint32_t hash;         /* of these */
	uint32_t near;         /* the node that may be there; 0: none */
	bool whole;            /* the new part is the leaf alone */
	bool wanted;           /* the caller says whether the sample counts */
};

static void announce(const struct path_tree *tree, const struct trace_sample *sample,
                     struct errand *errand)
{
	const uint32_t *pair = pair_of(tree, sample);

	errand->node = pair ? *pair - 1 : PATH_NONE;
	if (!errand->wanted)
		return;
	if (errand->node != PATH_NONE) {
		__builtin_prefetch(&tree->nodes[errand->node]);
		return;
	}
	errand->number = UINT32_MAX;
	if (!tree->flat)
		errand->number = trace_node_number(tree->names->trace, sample->context);
	if (errand->number != UINT32_MAX)
		__builtin_prefetch(&tree->context_nodes[errand->number]);
}

/* number: the context's. */
static uint32_t known_node(const struct path_tree *tree, uint32_t context, uint32_t number)
{
	return context == NODE_NONE || tree->flat ? 0 : known_context(tree, number);
}

static void ask(const struct path_tree *tree, const struct trace_sample *sample,
                struct errand *errand)
{
	if (!errand->wanted || errand->node != PATH_NONE)
		return;
	errand->parent = known_node(tree, sample->context, errand->number);
	errand->whole = errand->parent != PATH_NONE;
	if (!errand->whole)
		trace_node_prefetch(tree->names->trace, sample->context);
}

/*
 * Returns the last known node of a sample's path, and the frame below it; PATH_NONE if no node is
 * known, or the path is too long.
 */
static uint32_t known_part(const struct path_tree *tree, const struct trace_sample *sample,
                           uint32_t node, uint64_t *frame)
{
	const struct trace *trace = tree->names->trace;
	uint32_t context = sample->context;

	*frame = sample->leaf;
	for (unsigned i = 0; node == PATH_NONE && i < MAX_NEW; i++) {
		if (!trace_node(trace, context, frame, &context))
			break;
		node = known_node(tree, context, trace_node_number(trace, context));
	}
	return node;
}

static void approach(const struct path_tree *tree, const struct trace_sample *sample,
                     struct errand *errand)
{
	bool only = false;
	uint64_t frame;

	errand->name = PATH_NONE;
	if (!errand->wanted || errand->node != PATH_NONE)
		return;
	errand->parent = known_part(tree, sample, errand->parent, &frame);
	if (errand->parent == PATH_NONE)
		return;
	__builtin_prefetch(&tree->nodes[errand->parent]);
	errand->name = frame_names_known(tree->names, frame, &only);
	errand->whole &= only;
	if (errand->name == PATH_NONE)
		return;
	errand->hash = node_hash(errand->parent, errand->name);
	hash_slots_prefetch(&tree->children, errand->hash);
}

static void reach(const struct path_tree *tree, struct errand *errand)
{
	const struct path_node *parent;
	const struct hash_slot *slot;

	errand->near = 0;
	if (errand->name == PATH_NONE)
		return;
	parent = &tree->nodes[errand->parent];
	slot = parent->wide ? hash_slots_first(&tree->children, errand->hash) : NULL;
	if (slot)
		errand->near = slot->node - 1;
	else if (!parent->wide)
		errand->near = parent->links.child;
	__builtin_prefetch(&tree->nodes[errand->near]);
}

static void arrive(const struct path_tree *tree, struct errand *errand)
{
	const struct path_node *node = &tree->nodes[errand->near];

	if (errand->near && errand->whole && node->parent == errand->parent &&
	    node->name == errand->name)
		errand->node = errand->near;
}

static void look_ahead(const struct path_tree *tree, const struct trace_sample *samples,
                       unsigned nr, struct errand *errands)
{
	for (unsigned i = 0; i < nr; i++)
		announce(tree, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		ask(tree, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		approach(tree, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		reach(tree, &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		arrive(tree, &errands[i]);
}

int path_tree_find(struct path_tree *tree, const struct trace_sample *samples, unsigned nr,
                   const struct selection *selection, uint32_t *nodes)
{
	struct errand errands[PATH_BATCH];

	for (unsigned i = 0; i < nr; i++)
		errands[i].wanted = selection_has(selection, &samples[i]);
	look_ahead(tree, samples, nr, errands);
	for (unsigned i = 0; i < nr; i++) {
		nodes[i] = PATH_NONE;
		if (!errands[i].wanted) {
			pair_of(tree, &samples[i]);
			continue;
		}
		nodes[i] = find_sample(tree, &samples[i], errands[i].node);
		if (nodes[i] == PATH_NONE)
			return -ENOMEM;
		__builtin_prefetch(&tree->nodes[nodes[i]]);
	}
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

/*
 * Allocates room for as many entries as there are contexts. If memory is short, the array grows
 * later.
 */
static void *reserve(uint64_t nr, size_t size, uint32_t *room)
{
	void *entries = nr < LARGE_ARRAY_MAX / 2 ? large_array_new(nr, size) : NULL;

	*room = entries ? (uint32_t)nr : 0;
	return entries;
}

/*
 * One more of each: for numbers that a file makes up. Contexts that few samples are in leave holes,
 * which large pages would fill: converters, with more in memory, go without.
 */
static int make_room(struct path_tree *tree)
{
	uint64_t nr = trace_node_limit(tree->names->trace) + 1;

	tree->chain = calloc(CHAIN_SIZE, sizeof(*tree->chain));
	tree->context_nodes =
		(tree->with_self ? large_array_new : calloc)(nr, sizeof(*tree->context_nodes));
	tree->nodes = reserve(nr, sizeof(*tree->nodes), &tree->room);
	if (tree->with_self)
		tree->self = reserve(nr, sizeof(*tree->self), &tree->self_room);
	return tree->chain && tree->context_nodes ? 0 : -ENOMEM;
}

/* A flat tree has few nodes, and none for contexts: arrays for all of them would take longer to be
 * zeroed than a second of samples takes to be added up. */
int path_tree_init(struct path_tree *tree, struct frame_names *names,
                   const struct path_tree_config *config)
{
	*tree = (struct path_tree){
		.names = names, .with_self = config->with_self, .flat = config->flat};
	if ((!tree->flat && make_room(tree)) || add_node(tree) == PATH_NONE)
		return -ENOMEM;
	tree->nodes[0].parent = PATH_NONE;
	return 0;
}

int path_tree_use_pairs(struct path_tree *tree, uint32_t nr)
{
	free(tree->pairs);
	tree->nr_pairs = nr;
	tree->pairs = calloc(nr + 1UL, sizeof(*tree->pairs));
	return tree->pairs ? 0 : -ENOMEM;
}

void path_tree_settle(struct path_tree *tree)
{
	hash_slots_fini(&tree->children);
	free(tree->context_nodes);
	free(tree->pairs);
	free(tree->chain);
	tree->context_nodes = tree->pairs = NULL;
	tree->chain = NULL;
}

void path_tree_fini(struct path_tree *tree)
{
	path_tree_settle(tree);
	free(tree->nodes);
	free(tree->self);
	*tree = (struct path_tree){0};
}
