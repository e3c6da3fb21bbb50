/* Finds the class of a sample. */
#include "output/profile/profile_build.h"

#include "output/profile/processes.h"
#include "base/access_class.h"

#include <errno.h>

int builder_init_classes(struct builder *builder)
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

/* Returns the class that the sample has to be added to. */
static struct profile_class class_wanted(const struct builder *builder,
                                         const struct trace_sample *sample)
{
	struct profile_class class = {PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 0, 0, 0};
	unsigned keys = builder->profile->config.keys;

	if (keys & PROFILE_BY_THREAD)
		class.thread = stands_for(builder, builder->thread_of, sample->thread);
	if (keys & PROFILE_BY_PROCESS)
		class.process = stands_for(builder, builder->process_of, sample->thread);
	if (keys & (PROFILE_BY_THREAD | PROFILE_BY_COMM))
		class.comm = thread_comm(builder->profile->trace, sample->thread);
	if (keys & PROFILE_BY_CPU)
		class.cpu = sample->cpu;
	class.memory = access_class_part(sample->memory, profile_memory_fields(keys));
	return class;
}

static bool is_same(const struct profile_class *a, const struct profile_class *b)
{
	return a->thread == b->thread && a->process == b->process && a->comm == b->comm &&
	       a->cpu == b->cpu && a->memory == b->memory;
}

static uint32_t class_hash(const struct profile_class *class)
{
	return node_hash(node_hash(node_hash(class->thread, class->process), class->cpu),
	                 node_hash(class->comm, class->memory));
}

uint32_t builder_class(struct builder *builder, const struct trace_sample *sample)
{
	const struct profile_class wanted = class_wanted(builder, sample);
	uint32_t hash = class_hash(&wanted), class;
	const struct hash_slot *slot = hash_slots_first(&builder->classes, hash);

	while (slot && !is_same(&builder->profile->classes[slot->node - 1], &wanted))
		slot = hash_slots_next(&builder->classes, slot);
	if (slot)
		return slot->node - 1;
	class = builder_add_class(builder);
	if (class == PROFILE_NONE || hash_slots_put(&builder->classes, class, hash))
		return PROFILE_NONE;
	builder->profile->classes[class] = wanted;
	return class;
}
