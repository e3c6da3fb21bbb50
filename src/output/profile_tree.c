#include "output/profile_build.h"

#include "symbolize/frame.h"

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
static uint32_t child_of(struct builder *builder, uint32_t parent, uint64_t frame, bool leaf)
{
	struct profile *profile = builder->profile;
	const uint32_t *names;
	uint32_t nr = frame_names_chain(&profile->names, frame, &names);

	if (!nr)
		return PROFILE_NONE;
	if (nr > 1 && !leaf && is_deep(profile, parent))
		nr = 1;
	for (; nr && parent != PROFILE_NONE; nr--)
		parent = builder_child(builder, parent, *names++);
	return parent;
}

static uint32_t known_context(const struct builder *builder, uint32_t context)
{
	return builder_known_context(builder, trace_node_number(builder->profile->trace, context));
}

static void know_context(struct builder *builder, uint32_t context, uint32_t node)
{
	uint32_t number = trace_node_number(builder->profile->trace, context);

	if (number != UINT32_MAX)
		builder->context_nodes[number] = node + 1;
}

/*
 * Notes the contexts from this one up to the first that has a node already, whose node it returns;
 * else the node to hang the last one below. A context that does not reach a root in the file hangs
 * below [truncated].
 */
static uint32_t climb(struct builder *builder, uint32_t context, uint32_t *depth)
{
	uint32_t node, above;
	uint64_t frame;

	for (*depth = 0; context != NODE_NONE; ++*depth) {
		node = known_context(builder, context);
		if (node != PROFILE_NONE)
			return node;
		if (*depth == CHAIN_SIZE)
			return child_of(builder, 0, FRAME_TRUNCATED, false);
		if (!trace_node(builder->profile->trace, context, &frame, &above))
			return child_of(builder, 0, FRAME_TRUNCATED, false);
		builder->chain[*depth] = (struct chain_link){frame, context};
		context = above;
	}
	return 0;
}

/* The profile's node of a context. */
static uint32_t context_node(struct builder *builder, uint32_t context)
{
	uint32_t depth, node = climb(builder, context, &depth);

	while (depth && node != PROFILE_NONE) {
		const struct chain_link *link = &builder->chain[--depth];

		node = child_of(builder, node, link->frame, false);
		if (node != PROFILE_NONE)
			know_context(builder, link->context, node);
	}
	return node;
}

/* --- samples ---------------------------------------------------------------------------------- */

uint32_t builder_leaf(struct builder *builder, const struct trace_sample *sample, uint32_t known)
{
	uint32_t *place = builder_place(builder, sample);
	uint32_t node = known;

	if (node == PROFILE_NONE && place && sample->again && *place)
		return *place - 1;
	if (node == PROFILE_NONE) {
		node = builder->by_caller ? context_node(builder, sample->context) : 0;
		if (node != PROFILE_NONE)
			node = child_of(builder, node, sample->leaf, true);
	}
	if (place && node != PROFILE_NONE)
		*place = node + 1;
	return node;
}

void builder_pass(struct builder *builder, const struct trace_sample *sample)
{
	uint32_t *place = builder_place(builder, sample);

	if (place && !sample->again)
		*place = 0;
}
