#include "output/profile_build.h"

#include "symbolize/module.h"

/* What was inlined deeper than this is not told of callers, for a file may say so of each. */
#define MAX_INLINED_DEPTH 1024

static bool is_deep(const struct profile *profile, uint32_t node)
{
	uint32_t depth = 0;

	for (; profile->nodes[node].parent != PROFILE_NONE; node = profile->nodes[node].parent)
		if (++depth == MAX_INLINED_DEPTH)
			return true;
	return false;
}

/* The node below `parent` for this frame: that of its innermost function. */
static uint32_t child_of(struct builder *builder, uint32_t class, uint32_t parent, uint64_t frame,
                         bool leaf)
{
	struct profile *profile = builder->profile;
	const uint32_t *names;
	uint32_t nr = frame_names_chain(&profile->names, frame, &names);

	if (!nr)
		return PROFILE_NONE;
	if (nr > 1 && !leaf && is_deep(profile, parent))
		nr = 1;
	for (; nr && parent != PROFILE_NONE; nr--)
		parent = builder_child(builder, class, parent, *names++);
	return parent;
}

static uint32_t known_context(const struct builder *builder, uint32_t class, uint32_t context)
{
	uint32_t number;

	if (class)
		return map64_get(&builder->more_context_nodes, (uint64_t) class << 32 | context);
	number = trace_node_number(builder->profile->trace, context);
	return number == UINT32_MAX ? PROFILE_NONE : builder->context_nodes[number] - 1;
}

static int know_context(struct builder *builder, uint32_t class, uint32_t context, uint32_t node)
{
	uint32_t number;

	if (class)
		return map64_add(&builder->more_context_nodes, (uint64_t) class << 32 | context,
		                 node);
	number = trace_node_number(builder->profile->trace, context);
	if (number != UINT32_MAX)
		builder->context_nodes[number] = node + 1;
	return 0;
}

/*
 * Notes the contexts from this one up to the first that has a node already, whose node it returns;
 * else the node to hang the last one below. A context that does not reach a root in the file hangs
 * below [truncated].
 */
static uint32_t climb(struct builder *builder, uint32_t class, uint32_t context, uint32_t *depth)
{
	uint32_t node, root = builder->profile->classes[class].root;
	uint64_t frame;

	for (*depth = 0; context != NODE_NONE; ++*depth) {
		node = known_context(builder, class, context);
		if (node != PROFILE_NONE)
			return node;
		if (*depth == CHAIN_SIZE)
			return child_of(builder, class, root, FRAME_TRUNCATED, false);
		builder->chain[*depth] = context;
		if (!trace_node(builder->profile->trace, context, &frame, &context))
			return child_of(builder, class, root, FRAME_TRUNCATED, false);
	}
	return root;
}

/* The profile's node of a context. */
static uint32_t context_node(struct builder *builder, uint32_t class, uint32_t context)
{
	uint32_t depth, parent, node = climb(builder, class, context, &depth);
	uint64_t frame;

	while (depth && node != PROFILE_NONE) {
		context = builder->chain[--depth];
		if (trace_node(builder->profile->trace, context, &frame, &parent))
			node = child_of(builder, class, node, frame, false);
		if (node == PROFILE_NONE || know_context(builder, class, context, node))
			return PROFILE_NONE;
	}
	return node;
}

static struct leaf_cache *cache_slot(const struct builder *builder, uint32_t class,
                                     const struct trace_sample *sample)
{
	uint64_t hash = (sample->leaf ^ (uint64_t)sample->context << 24 ^ (uint64_t) class << 56) *
	                0x9e3779b97f4a7c15;

	static_assert(LEAF_CACHE_SIZE == 1 << (64 - 49), "the hash gives 15 bits");
	return &builder->cache[hash >> 49];
}

static bool cache_holds(const struct leaf_cache *slot, uint32_t class,
                        const struct trace_sample *sample)
{
	return slot->node && slot->leaf == sample->leaf && slot->context == sample->context &&
	       slot->class == class;
}

void builder_announce(struct builder *builder, const struct trace_sample *sample)
{
	uint32_t number = trace_node_number(builder->profile->trace, sample->context);

	__builtin_prefetch(cache_slot(builder, 0, sample));
	if (number != UINT32_MAX)
		__builtin_prefetch(&builder->context_nodes[number]);
}

/* Where the sample's node is looked for; false: it is known, or nothing can be said yet. */
static bool leaf_wanted(const struct builder *builder, const struct trace_sample *sample,
                        uint32_t *parent, uint32_t *row)
{
	uint32_t name;

	if (cache_holds(cache_slot(builder, 0, sample), 0, sample))
		return false;
	*parent = known_context(builder, 0, sample->context);
	name = frame_names_known(&builder->profile->names, sample->leaf);
	*row = builder_known_row(builder, name);
	return *parent != PROFILE_NONE && *row != PROFILE_NONE;
}

void builder_approach(struct builder *builder, const struct trace_sample *sample)
{
	uint32_t parent, row;

	if (leaf_wanted(builder, sample, &parent, &row))
		builder_parent_prefetch(builder, parent, row);
}

void builder_reach(struct builder *builder, const struct trace_sample *sample)
{
	uint32_t parent, row;

	if (leaf_wanted(builder, sample, &parent, &row))
		builder_child_prefetch(builder, parent, row);
}

uint32_t builder_leaf(struct builder *builder, uint32_t class, const struct trace_sample *sample)
{
	struct leaf_cache *slot = cache_slot(builder, class, sample);
	uint32_t node;

	if (cache_holds(slot, class, sample))
		return slot->node - 1;
	node = context_node(builder, class, sample->context);
	if (node != PROFILE_NONE)
		node = child_of(builder, class, node, sample->leaf, true);
	if (node != PROFILE_NONE)
		*slot = (struct leaf_cache){sample->leaf, class, sample->context, node + 1};
	return node;
}
