/*
 * Looking ahead: large trees are all over memory, so that a sample by itself would wait for it
 * several times. The samples of a batch wait together: each step asks for what the next one needs,
 * and the last one has found the nodes that there are already.
 */
#include "output/profile_build.h"

/* How far up a new path is followed before its turn. */
#define MAX_NEW 32

/* Places are as they will be when it is the sample's turn, or not known. */
static uint32_t known_place(struct builder *builder, const struct trace_sample *sample)
{
	uint32_t *place = builder_place(builder, sample);

	if (!place)
		return PROFILE_NONE;
	if (!sample->again)
		*place = 0;
	return *place - 1;
}

static void announce(struct builder *builder, const struct trace_sample *sample,
                     struct errand *errand)
{
	errand->node = known_place(builder, sample);
	if (!errand->wanted)
		return;
	if (errand->node != PROFILE_NONE) {
		__builtin_prefetch(&builder->profile->nodes[errand->node]);
		return;
	}
	errand->number = UINT32_MAX;
	if (builder->by_caller)
		errand->number = trace_node_number(builder->profile->trace, sample->context);
	if (errand->number != UINT32_MAX)
		__builtin_prefetch(&builder->context_nodes[errand->number]);
}

/* number: the context's. */
static uint32_t known_node(const struct builder *builder, uint32_t context, uint32_t number)
{
	if (context == NODE_NONE || !builder->by_caller)
		return 0;
	return builder_known_context(builder, number);
}

static void ask(const struct builder *builder, const struct trace_sample *sample,
                struct errand *errand)
{
	if (!errand->wanted || errand->node != PROFILE_NONE)
		return;
	errand->parent = known_node(builder, sample->context, errand->number);
	errand->whole = errand->parent != PROFILE_NONE;
	if (!errand->whole)
		trace_node_prefetch(builder->profile->trace, sample->context);
}

/*
 * The node that a sample's path is known to, and the frame below; PROFILE_NONE: it is not known, or
 * too long.
 */
static uint32_t known_part(const struct builder *builder, const struct trace_sample *sample,
                           uint32_t node, uint64_t *frame)
{
	const struct trace *trace = builder->profile->trace;
	uint32_t context = sample->context;

	*frame = sample->leaf;
	for (unsigned i = 0; node == PROFILE_NONE && i < MAX_NEW; i++) {
		if (!trace_node(trace, context, frame, &context))
			break;
		node = known_node(builder, context, trace_node_number(trace, context));
	}
	return node;
}

static void approach(const struct builder *builder, const struct trace_sample *sample,
                     struct errand *errand)
{
	const struct node_table *table = &builder->children;
	bool only = false;
	uint64_t frame;

	errand->name = PROFILE_NONE;
	if (!errand->wanted || errand->node != PROFILE_NONE)
		return;
	errand->parent = known_part(builder, sample, errand->parent, &frame);
	if (errand->parent == PROFILE_NONE)
		return;
	__builtin_prefetch(&builder->profile->nodes[errand->parent]);
	errand->name = frame_names_known(&builder->profile->names, frame, &only);
	errand->whole &= only;
	if (errand->name == PROFILE_NONE || !table->slots)
		return;
	errand->hash = node_hash(errand->parent, errand->name);
	__builtin_prefetch(&table->slots[node_slot_at(table, errand->hash)]);
}

/* The node that the errand may end at; PROFILE_NONE: none is known. */
static uint32_t candidate(const struct builder *builder, const struct errand *errand)
{
	const struct node_table *table = &builder->children;
	const struct profile_node *parent;
	const struct node_slot *slot;

	if (errand->name == PROFILE_NONE)
		return PROFILE_NONE;
	parent = &builder->profile->nodes[errand->parent];
	if (!parent->wide)
		return parent->links.child ? parent->links.child : PROFILE_NONE;
	slot = node_slot_first(table, errand->hash);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

static void reach(const struct builder *builder, struct errand *errand)
{
	errand->near = candidate(builder, errand);
	if (errand->near != PROFILE_NONE)
		__builtin_prefetch(&builder->profile->nodes[errand->near]);
}

static void arrive(const struct builder *builder, struct errand *errand)
{
	const struct profile_node *node;

	if (errand->near == PROFILE_NONE || !errand->whole)
		return;
	node = &builder->profile->nodes[errand->near];
	if (node->parent == errand->parent && node->name == errand->name)
		errand->node = errand->near;
}

void builder_look_ahead(struct builder *builder, const struct trace_sample *samples, unsigned nr,
                        struct errand *errands)
{
	for (unsigned i = 0; i < nr; i++)
		announce(builder, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		ask(builder, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		approach(builder, &samples[i], &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		reach(builder, &errands[i]);
	for (unsigned i = 0; i < nr; i++)
		arrive(builder, &errands[i]);
}
