/* Finds the subset of a sample. */
#include "output/profile/profile_build.h"

#include "output/profile/processes.h"
#include "base/access_class.h"

#include <errno.h>

int builder_init_subsets(struct builder *builder)
{
	const struct trace *trace = builder->profile->trace;
	unsigned keys = builder->profile->config.keys;

	if (keys & PROFILE_BY_PROCESS && !(builder->process_of = processes_find(trace)))
		return -ENOMEM;
	if (keys & PROFILE_BY_THREAD && !(builder->thread_of = threads_find(trace)))
		return -ENOMEM;
	return 0;
}

static uint32_t thread_comm(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	return entry ? entry->comm : 0;
}

/* Numbers that a file makes up stand for themselves. */
static uint32_t stands_for(const struct builder *builder, const uint32_t *table, uint32_t thread)
{
	return thread < builder->nr_threads - 1 ? table[thread] : thread;
}

/* Returns the subset that the sample has to be added to. */
static struct profile_subset subset_wanted(const struct builder *builder,
                                           const struct trace_sample *sample)
{
	struct profile_subset subset = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0, 0, 0};
	unsigned keys = builder->profile->config.keys;

	if (keys & PROFILE_BY_THREAD)
		subset.thread = stands_for(builder, builder->thread_of, sample->thread);
	if (keys & PROFILE_BY_PROCESS)
		subset.process = stands_for(builder, builder->process_of, sample->thread);
	if (keys & (PROFILE_BY_THREAD | PROFILE_BY_COMM))
		subset.comm = thread_comm(builder->profile->trace, sample->thread);
	if (keys & PROFILE_BY_CPU)
		subset.cpu = sample->cpu;
	subset.memory = access_class_part(sample->memory, profile_memory_fields(keys));
	return subset;
}

static bool is_same(const struct profile_subset *a, const struct profile_subset *b)
{
	return a->thread == b->thread && a->process == b->process && a->comm == b->comm &&
	       a->cpu == b->cpu && a->memory == b->memory;
}

static uint32_t subset_hash(const struct profile_subset *subset)
{
	return node_hash(node_hash(node_hash(subset->thread, subset->process), subset->cpu),
	                 node_hash(subset->comm, subset->memory));
}

uint32_t builder_subset(struct builder *builder, const struct trace_sample *sample)
{
	const struct profile_subset wanted = subset_wanted(builder, sample);
	uint32_t hash = subset_hash(&wanted), subset;
	const struct hash_slot *slot = hash_slots_first(&builder->subsets, hash);

	while (slot && !is_same(&builder->profile->subsets[slot->node - 1], &wanted))
		slot = hash_slots_next(&builder->subsets, slot);
	if (slot)
		return slot->node - 1;
	subset = builder_add_subset(builder);
	if (subset == PROFILE_NONE || hash_slots_put(&builder->subsets, subset, hash))
		return PROFILE_NONE;
	builder->profile->subsets[subset] = wanted;
	return subset;
}
